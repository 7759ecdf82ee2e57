// What the documents of both versions of OpenAPI say in the same words.

import { STATUS_CODES } from 'node:http'
import type { JsonSchema } from '../../schema/openapi.js'
import type { Operation } from './route.js'

export const answerText = (code: string): string => STATUS_CODES[code] ?? code

export const unauthorized: JsonSchema = { 401: { description: answerText('401') } }

export const tokenScheme: JsonSchema = {
  BearerToken: { type: 'apiKey', name: 'authorization', in: 'header', description: "A token in the form 'Bearer <token>'." },
}
export const security: readonly JsonSchema[] = [{ BearerToken: [] }]

export const marksOf = ({ action, kind }: Operation): JsonSchema => ({
  ...(action !== undefined && { 'x-kubernetes-action': action }),
  ...(kind !== undefined && { 'x-kubernetes-group-version-kind': kind }),
})
