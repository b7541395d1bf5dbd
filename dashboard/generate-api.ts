/** `npm run api-types`: the dashboard speaks to the API with types made from the API's own description. */
import { writeFileSync } from 'node:fs'
import openapiTypes, { astToString, type OpenAPI3 } from 'openapi-typescript'
import { ENDPOINTS } from '../src/http/endpoints.js'
import { describeApi } from '../src/http/openapi.js'

const types = await openapiTypes(structuredClone(describeApi(ENDPOINTS)) as unknown as OpenAPI3, {
  // What has a default may be left out.
  defaultNonNullable: false,
})
writeFileSync(new URL('./src/api/schema.d.ts', import.meta.url), astToString(types))
