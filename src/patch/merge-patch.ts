// JSON merge patch (RFC 7396): objects merge, null removes, everything else replaces. What the patch does not name is shared.

import type { Json } from './json-patch.js'
import { isRecord, own, setOwn } from './plain.js'

export const mergePatch = (document: Json, patch: Json): Json => merge(document, patch) as Json

function merge(target: unknown, patch: unknown): unknown {
  if (!isRecord(patch)) return patch
  const out: { [name: string]: unknown } = isRecord(target) ? { ...target } : {}
  for (const name in patch) {
    const value = patch[name]
    if (value === null) delete out[name]
    else setOwn(out, name, isRecord(value) ? merge(own(out, name), value) : value)
  }
  return out
}
