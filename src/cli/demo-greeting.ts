import type { Demo } from '../demo/start-demo.js'
import { smtpUrlOf } from '../demo/set-scene.js'
import { VERSION } from '../version.js'

type Greeted = Omit<Demo, 'close'>

/** What the demo says once there is something to see: where, how to get in, what is not as in earnest, what to try. */
export function greetDemo(demo: Greeted, { fast }: { readonly fast: number }): string {
  const { url, key, mailServer, scene } = demo
  const facts = {
    dashboard: `${url}/admin`,
    'log in': `admin, with the password ${demo.password}`,
    'or look': `as tomas, who may change nothing: ${demo.viewerLink}`,
    API: `${url}/api`,
    docs: `${url}/api/docs`,
    'API key': key,
    mail: `to a mail server of its own, ${mailServer.host}:${mailServer.port}, which misbehaves; it can reach no other`,
    data: `${demo.directory}, removed when it stops`,
    'sped up': describeSpeed(fast),
  }
  const curl = (path: string, rest = '') => `  curl -sS '${url}/api${path}' -H "Authorization: Bearer ${key}"${rest}`
  const json = (body: object) => ` -H "Content-Type: application/json" -d '${JSON.stringify(body)}'`
  const billing = `/senders/${scene.senders.billing}`
  return `Postrider ${VERSION}, the demo: Quince & Fig, a seed shop that does not exist
${Object.entries(facts)
  .map(([name, value]) => `  ${name.padEnd(9)}  ${value}`)
  .join('\n')}

Three things to try, there or here:

1. Send an email, to whom you like. It goes no further than the inbox:
${curl('/emails', json({ to: 'you@example.com', subject: 'Hello', text: 'It works.', delivery: 'inline' }))}
${curl('/inbox?limit=1')}

2. Billing is paused, because its password was refused, and its invoices wait. Mend it:
${curl(billing, ` -X PATCH${json({ smtp_url: smtpUrlOf(mailServer) })}`)}
${curl(`${billing}/resume`, ' -X POST')}

3. One email may or may not have arrived, and nobody can know. Find it, and decide with /resolve:
${curl('/emails?status=uncertain')}

Ready. Orders come in, people click and answer, and things go wrong, until Ctrl-C.
`
}

function describeSpeed(fast: number): string {
  if (fast === 1) return 'nothing (--fast would speed up the sequence “First gardens”)'
  const minutes = 1_440 / fast
  const day = minutes === 1 ? 'a minute' : `${Number(minutes.toFixed(1))} minutes`
  return `only the sequence “First gardens”: where it would wait a day, it waits ${day}`
}
