import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestProject } from 'vitest/node'
import { SHARED_PACKAGE } from '../build-package.js'
import { chromiumProgram } from './chromium.js'
import { createEmbeddedTemplate } from './embedded-template.js'
import { acquirePostgres } from './postgres.js'
import { createTemplate, type Template } from './postgres-template.js'
import { prepareTemplate } from './prepare-template.js'
import { rabbitmqProgram } from './private-rabbitmq.js'
import { redisProgram } from './private-redis.js'
import { rabbitmqKind } from './rabbitmq.js'
import { redisKind } from './redis.js'
import { installAhead } from './required-program.js'
import { dropAbandonedDatabases, dropRunDatabases } from './run-databases.js'
import { openServiceDesk } from './service-desk.js'

declare module 'vitest' {
  export interface ProvidedContext {
    template: Template
    serviceDeskUrl: string
    embeddedTemplate: string
  }
}

/** Runs once, before all test files, in the process that outlives them; what it returns runs after the last. */
export default async function setUp(project: TestProject): Promise<() => Promise<void>> {
  const postgres = await acquirePostgres().catch(leaveWithReason)
  try {
    await installAhead([redisProgram, rabbitmqProgram, chromiumProgram])
    await dropAbandonedDatabases(postgres.url)
    const template = await createTemplate(postgres.url, prepareTemplate)
    const embeddedTemplate = await createEmbeddedTemplate()
    const sharedPackage = mkdtempSync(join(tmpdir(), 'postrider-package-'))
    process.env[SHARED_PACKAGE] = sharedPackage
    const desk = await openServiceDesk({ redis: redisKind, rabbitmq: rabbitmqKind })
    project.provide('template', template)
    project.provide('serviceDeskUrl', desk.url)
    project.provide('embeddedTemplate', embeddedTemplate.directory)
    return async () => {
      await desk.close()
      embeddedTemplate.remove()
      rmSync(sharedPackage, { recursive: true, force: true })
      await dropRunDatabases(postgres.url, template.runId)
      await postgres.release()
    }
  } catch (error) {
    await postgres.release()
    throw error
  }
}

/** Thrown, the reason would be buried: vitest goes on to say "No test files found", which is not true. */
function leaveWithReason(reason: unknown): never {
  process.stderr.write(`\n${reason instanceof Error ? reason.message : String(reason)}\n\n`)
  process.exit(1)
}
