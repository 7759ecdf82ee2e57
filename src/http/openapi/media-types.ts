// In which forms bodies are read and answers written, as documents name them.

import type { Identity } from '../../api/identity.js'

export const json = 'application/json'
const yaml = 'application/yaml'

export const patchTypes = [
  'application/json-patch+json',
  'application/merge-patch+json',
  'application/strategic-merge-patch+json',
  'application/apply-patch+yaml',
] as const

/** Custom kinds have no merge keys of their own. */
export const customPatchTypes = patchTypes.filter((type) => !type.includes('strategic'))

export interface MediaTypes {
  readonly object: readonly string[]
  readonly objectOrWatch: readonly string[]
  readonly text: readonly string[]
  readonly body: readonly string[]
  readonly patch: readonly string[]
}

export function mediaTypes({ protobufMediaType: protobuf }: Identity): MediaTypes {
  const object = [json, yaml, protobuf]
  return {
    object,
    objectOrWatch: [...object, `${json};stream=watch`, `${protobuf};stream=watch`],
    text: ['text/plain', ...object],
    body: ['*/*'],
    patch: patchTypes,
  }
}

/** Those of kinds that exist only as JSON. */
export const customMediaTypes: MediaTypes = {
  object: [json, yaml],
  objectOrWatch: [json, yaml],
  text: ['text/plain', json, yaml],
  body: [json, yaml],
  patch: customPatchTypes,
}
