// The fields of a form that is made of the schema of a kind: required ones first, with type, choices, default and description.

import type { Schema } from '@cluster-apiserver/client/openapi/schema-tree.js'
import type { KindSchema } from '../editor/kind-schema.js'
import type { Path } from './edit-value.js'

/** `other`: any value, which only the YAML can hold. */
export type Control = 'text' | 'number' | 'number or text' | 'boolean' | 'choice' | 'object' | 'list' | 'map' | 'other'

export interface FormField {
  readonly name: string
  readonly control: Control
  readonly type: string
  readonly isRequired: boolean
  readonly description: string
  /** Text of the default; undefined without one. */
  readonly fallback: string | undefined
  readonly choices: readonly string[]
}

/** Fields that the server or the page sets. */
const headFields: ReadonlySet<string> = new Set(['apiVersion', 'kind', 'status'])
const metadataFields: ReadonlySet<string> = new Set([
  'name',
  'generateName',
  'namespace',
  'labels',
  'annotations',
  'finalizers',
  'ownerReferences',
])
/** Fields of an object that are always shown, before the others. */
const mainFields: readonly string[] = ['metadata', 'spec']

/** Fields of an object of the schema; empty for other types. */
export function formFields(schema: KindSchema, path: Path): readonly FormField[] {
  const isMetadata = path.length === 1 && path[0] === 'metadata'
  const shown = schema
    .membersAt(path)
    .filter(({ name }) => (path.length === 0 ? !headFields.has(name) : !isMetadata || metadataFields.has(name)))
  const fields = shown.flatMap(({ name, isRequired }) => {
    const isMain = path.length === 0 ? mainFields.includes(name) : isMetadata && name === 'name'
    return formField(schema, [...path, name], isRequired || isMain) ?? []
  })
  const rankOf = ({ name, isRequired }: FormField): number =>
    path.length === 0 && mainFields.includes(name) ? mainFields.indexOf(name) : isRequired ? mainFields.length : mainFields.length + 1
  return fields.sort((a, b) => rankOf(a) - rankOf(b))
}

/** Undefined for a field that the schema does not have. */
export function formField(schema: KindSchema, path: Path, isRequired = false): FormField | undefined {
  const found = schema.resolvedAt(path)
  const explained = schema.explain(path)
  if (found === undefined || explained === undefined) return undefined
  const fallback = found.default
  return {
    name: String(path.at(-1) ?? ''),
    control: controlOf(found),
    type: explained.type,
    isRequired,
    description: explained.description,
    // Built-in kinds have the defaults {} and "" for structs and texts, which say nothing.
    fallback:
      fallback === undefined || fallback === '' || isEmptyObject(fallback)
        ? undefined
        : typeof fallback === 'string'
          ? fallback
          : JSON.stringify(fallback),
    choices: schema.enumAt(path),
  }
}

const isEmptyObject = (value: unknown): boolean => typeof value === 'object' && value !== null && Object.keys(value).length === 0

function controlOf(schema: Schema): Control {
  if (schema.type === 'boolean') return 'boolean'
  if (schema.enum !== undefined) return 'choice'
  if (schema.format === 'int-or-string' || schema['x-kubernetes-int-or-string'] === true) return 'number or text'
  if (schema.type === 'integer' || schema.type === 'number') return 'number'
  if (schema.type === 'string') return 'text'
  if (schema.items !== undefined) return 'list'
  if (schema.properties !== undefined) return 'object'
  return typeof schema.additionalProperties === 'object' ? 'map' : 'other'
}

/** The value of a text that was typed; undefined for an empty one, which removes the field. */
export function readTyped(control: Control, text: string): unknown {
  if (text === '') return undefined
  if (control === 'boolean') return text === 'true'
  const isNumber = /^-?(?:\d+|\d*\.\d+)$/.test(text) && Number.isFinite(Number(text))
  return isNumber && (control === 'number' || (control === 'number or text' && /^-?\d+$/.test(text))) ? Number(text) : text
}
