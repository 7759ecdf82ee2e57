// JSON merge patch (RFC 7396). Members that the patch does not name are shared with the document.

import type { Json } from './json-patch/json-patch.js'
import { isRecord, own, setOwn, withoutNulls } from './json-value.js'

export const mergePatch = (document: Json, patch: Json): Json => merge(document, patch) as Json

function merge(target: unknown, patch: unknown): unknown {
  if (!isRecord(target)) return withoutNulls(patch)
  // A list that replaces an object keeps null members of its items, as in kube-apiserver.
  if (!isRecord(patch)) return patch
  const out: { [name: string]: unknown } = { ...target }
  for (const name in patch) {
    const value = patch[name]
    if (value === null) delete out[name]
    else setOwn(out, name, merge(own(out, name), value))
  }
  return out
}
