// Suggests the fields of the kind, and the values of enums, at the cursor.

import type { Completion, CompletionSource } from '@codemirror/autocomplete'
import type { KindSchema, Member } from './kind-schema.js'
import { scannedLine } from './scan-yaml.js'

/** Longer lines have no suggestions: the search for their last word would take quadratic time. */
const maxCharacters = 1000
/** Typed characters after which suggestions appear without Ctrl+Space. */
const minTyped = 2

export const completeYaml =
  (schemaOf: () => KindSchema | undefined): CompletionSource =>
  ({ state, pos, explicit }) => {
    const schema = schemaOf()
    const { from, text } = state.doc.lineAt(pos)
    if (schema === undefined || pos - from > maxCharacters) return null
    const before = text.slice(0, pos - from)
    const line = scannedLine(state.doc, pos)
    const value = /^\s*(?:- )*[\w.-]+:\s+(\S*)$/.exec(before)
    const typed = value?.[1] ?? /[\w.-]*$/.exec(before)?.[0] ?? ''
    if (line === undefined || (!explicit && typed.length < minTyped)) return null
    const parent = line.key === undefined ? line.path : line.path.slice(0, -1)
    const options = value === null ? schema.membersAt(parent).map(memberOption) : schema.enumAt(line.path).map((label) => ({ label }))
    return options.length === 0 ? null : { from: pos - typed.length, options, validFor: /^[\w.-]*$/ }
  }

const memberOption = ({ name, type, isRequired, description }: Member): Completion => ({
  label: name,
  apply: `${name}:${type === 'Object' || type.startsWith('[]') || type.startsWith('map') ? '' : ' '}`,
  detail: `${type}${isRequired ? ' · required' : ''}`,
  info: description,
})
