// A name with a mark that follows from what is in the object, so that other contents have another name.

import { createHash } from 'node:crypto'
import type { DynamicObject } from '../client/objects.js'
import type { FlagTable } from './flags.js'
import { goJson } from './output/documents.js'

export const hashFlags = { 'append-hash': { kind: 'switch', help: 'a mark of what is in it behind its name' } } as const satisfies FlagTable

/** No letters that make words, or look like one another. */
const letters: { readonly [digit: string]: string } = { 0: 'g', 1: 'h', 3: 'k', a: 'm', e: 't' }

export function withHash(object: DynamicObject, isWanted: boolean): DynamicObject {
  if (!isWanted) return object
  const { kind = '', metadata = {}, data, binaryData, type = '' } = object
  const marked =
    kind === 'Secret'
      ? { data: data ?? {}, kind, name: metadata.name, type }
      : { ...(binaryData === undefined ? {} : { binaryData }), data: data ?? '', kind, name: metadata.name }
  const digest = createHash('sha256').update(goJson(marked)).digest('hex').slice(0, 10)
  return {
    ...object,
    metadata: { ...metadata, name: `${metadata.name}-${digest.replaceAll(/[013ae]/g, (digit) => letters[digit] as string)}` },
  }
}
