// Audit annotations that a webhook returned, within a number and a size.

import { qualifiedName } from '../../api/validation/text-rules.js'
import type { AdmissionRequest } from '../admission.js'

/** Of one response: what comes beyond them is left out. */
const maxAnnotations = 100
const maxCharacters = 64 << 10

/** `prefix` and key make the name of an annotation; keys with which they make none are left out. */
export function annotateAudit(
  request: AdmissionRequest,
  prefix: string,
  annotations: { readonly [key: string]: string | undefined } = {},
): void {
  let characters = 0
  let count = 0
  for (const key in annotations) {
    const value = annotations[key] ?? ''
    const name = `${prefix}/${key}`
    characters += key.length + value.length
    if (++count > maxAnnotations || characters > maxCharacters) return
    if (qualifiedName(name).length === 0) request.annotate(name, value)
  }
}
