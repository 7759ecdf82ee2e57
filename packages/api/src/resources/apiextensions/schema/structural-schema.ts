// Structural schema validation: types are declared outside of anyOf, allOf, oneOf and not, so that pruning and defaulting are defined.

import { type FieldError, forbidden, invalid, required } from '../../../api/field-error.js'
import { sameValue } from '../../../api/validation/same-value.js'
import { compareText } from '../../../base/text-order.js'
import {
  additionalSchema,
  isEmbedded,
  isIntOrString,
  isSet,
  itemSchema,
  type JsonSchema,
  keepsUnknown,
  patternProblem,
  schemasOf,
} from './json-schema.js'

/** `choice`: schema inside anyOf, allOf, oneOf or not; `shape`: schema of the same field outside of them. */
interface SchemaPaths {
  readonly shape: string
  readonly choice: string
}

/** Checks anyOf, allOf, oneOf and not of the root only, as in kube-apiserver. */
const validateCompleteness = (schema: JsonSchema, path: string): readonly FieldError[] =>
  validateChoices(schema, schema, { shape: path, choice: path })

function validateChoices(choice: JsonSchema, shape: JsonSchema, paths: SchemaPaths): readonly FieldError[] {
  const at = (name: string): SchemaPaths => ({ shape: paths.shape, choice: `${paths.choice}.${name}` })
  return [
    ...(choice.not === undefined ? [] : validateChoice(choice.not, shape, at('not'))),
    ...(['allOf', 'anyOf', 'oneOf'] as const).flatMap((name) =>
      (choice[name] ?? []).flatMap((nested, i) => validateChoice(nested, shape, at(`${name}[${i}]`))),
    ),
  ]
}

function validateChoice(choice: JsonSchema, shape: JsonSchema | undefined, paths: SchemaPaths): readonly FieldError[] {
  if (shape === undefined) return [required(paths.shape, `because it is defined in ${paths.choice}`)]
  const below = (name: string): SchemaPaths => ({ shape: `${paths.shape}.${name}`, choice: `${paths.choice}.${name}` })
  const items = itemSchema(choice)
  return [
    ...validateChoices(choice, shape, paths),
    ...(items === undefined ? [] : validateChoice(items, itemSchema(shape), below('items'))),
    ...schemasOf(choice.properties).flatMap(([name, property]) =>
      validateChoice(property, shape.properties?.[name], below(`properties[${name}]`)),
    ),
  ]
}

type Level = 'root' | 'item' | 'field'

export function validateStructural(schema: JsonSchema, path: string): readonly FieldError[] {
  const errors = [...validateShape(schema, path, 'root'), ...validateCompleteness(schema, path)]
  const text = ({ field, message }: FieldError): string => `${field}: ${message}`
  return errors.sort((a, b) => compareText(text(a), text(b)))
}

function validateShape(schema: JsonSchema, path: string, level: Level): readonly FieldError[] {
  const items = itemSchema(schema)
  const additional = additionalSchema(schema)
  return [
    ...(schema.type === 'array' && items === undefined ? [required(`${path}.items`, 'must be specified')] : []),
    ...(items === undefined ? [] : validateShape(items, `${path}.items`, 'item')),
    ...schemasOf(schema.properties).flatMap(([name, property]) => validateShape(property, `${path}.properties[${name}]`, 'field')),
    ...(level === 'root' && schema.additionalProperties !== undefined
      ? [forbidden(`${path}.additionalProperties`, 'must not be used at the root')]
      : []),
    ...(additional === undefined ? [] : validateShape(additional, `${path}.additionalProperties`, 'field')),
    ...validateExtensions(schema, path),
    ...validateValueRules(schema, path, intOrStringChoices(schema)),
    ...validateType(schema, path, level),
    ...(level === 'root' || isEmbedded(schema) ? validateResourceMembers(schema, path) : []),
    ...(level === 'root' ? validateMetadata(schema, path) : []),
  ]
}

function validateExtensions(schema: JsonSchema, path: string): readonly FieldError[] {
  if (!isIntOrString(schema)) return []
  const clash = (name: string): FieldError => invalid(`${path}.${name}`, true, 'must be false if x-kubernetes-int-or-string is true')
  return [
    ...(keepsUnknown(schema) ? [clash('x-kubernetes-preserve-unknown-fields')] : []),
    ...(isEmbedded(schema) ? [clash('x-kubernetes-embedded-resource')] : []),
  ]
}

const missingType: { readonly [L in Level]: string } = {
  root: 'must not be empty at the root',
  item: 'must not be empty for specified array items',
  field: 'must not be empty for specified object fields',
}

function validateType(schema: JsonSchema, path: string, level: Level): readonly FieldError[] {
  const { type = '' } = schema
  const errors: FieldError[] = []
  if (isEmbedded(schema) && type !== 'object') {
    const problem = 'must be object if x-kubernetes-embedded-resource is true'
    errors.push(type === '' ? required(`${path}.type`, problem) : invalid(`${path}.type`, type, problem))
  } else if (type === '' && !isIntOrString(schema) && !keepsUnknown(schema)) errors.push(required(`${path}.type`, missingType[level]))
  if (isEmbedded(schema) && schema.additionalProperties !== undefined) {
    errors.push(forbidden(`${path}.additionalProperties`, 'must not be used if x-kubernetes-embedded-resource is set'))
  }
  if (level === 'root' && type !== '' && type !== 'object') errors.push(invalid(`${path}.type`, type, 'must be object at the root'))
  if (isEmbedded(schema) && !keepsUnknown(schema) && schema.properties === undefined) {
    const problem = 'must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields'
    errors.push(required(`${path}.properties`, problem))
  }
  return errors
}

const memberTypes = { kind: 'string', apiVersion: 'string', metadata: 'object' } as const

function validateResourceMembers({ properties = {} }: JsonSchema, path: string): readonly FieldError[] {
  return Object.entries(memberTypes).flatMap(([name, wanted]) => {
    const member = properties[name]
    if (member === undefined || member.type === wanted) return []
    return [invalid(`${path}.properties[${name}].type`, member.type ?? '', `must be ${wanted}`)]
  })
}

/** Schemas may restrict only name and generateName in metadata. */
function validateMetadata({ properties = {} }: JsonSchema, path: string): readonly FieldError[] {
  if (properties.metadata === undefined) return []
  const { type: _type, default: _default, properties: members = {}, ...rest } = properties.metadata
  const isNarrow = Object.keys(members).every((name) => name === 'name' || name === 'generateName')
  if (isNarrow && keywordsOf(rest).length === 0) return []
  const problem = 'must not specify anything other than name and generateName, but metadata is implicitly specified'
  return [forbidden(`${path}.properties[metadata]`, problem)]
}

const keywordsOf = (schema: JsonSchema): readonly (readonly [name: string, value: unknown])[] =>
  Object.entries(schema).filter(([name, value]) => name !== 'example' && name !== 'externalDocs' && isShaping(name, value))

/** True for `anyOf: [{type: integer}, {type: string}]`, which x-kubernetes-int-or-string allows. */
const isIntOrStringChoice = (choices: readonly JsonSchema[] = []): boolean =>
  sameValue(choices.map(keywordsOf), [[['type', 'integer']], [['type', 'string']]])

interface SkippedChoices {
  readonly anyOf: boolean
  readonly firstAllOf: boolean
}

const nothingSkipped: SkippedChoices = { anyOf: false, firstAllOf: false }

const intOrStringChoices = ({ anyOf, allOf }: JsonSchema): SkippedChoices => ({
  anyOf: isIntOrStringChoice(anyOf),
  firstAllOf: isIntOrStringChoice(allOf?.[0]?.anyOf),
})

function validateValueRules(schema: JsonSchema, path: string, skipped: SkippedChoices): readonly FieldError[] {
  const nested = (name: 'anyOf' | 'allOf' | 'oneOf'): readonly FieldError[] =>
    (schema[name] ?? []).flatMap((choice, i) => {
      const isFirstAllOf = name === 'allOf' && i === 0 && skipped.firstAllOf
      return validateNested(choice, `${path}.${name}[${i}]`, { ...nothingSkipped, anyOf: isFirstAllOf })
    })
  return [
    ...(skipped.anyOf ? [] : nested('anyOf')),
    ...nested('allOf'),
    ...nested('oneOf'),
    ...(schema.not === undefined ? [] : validateNested(schema.not, `${path}.not`, nothingSkipped)),
    ...validatePattern(schema.pattern ?? '', `${path}.pattern`),
  ]
}

function validatePattern(pattern: string, field: string): readonly FieldError[] {
  const problem = pattern === '' ? undefined : patternProblem(pattern)
  return problem === undefined ? [] : [invalid(field, pattern, `must be a valid regular expression, but isn't: ${problem}`)]
}

const mustBe = {
  empty: 'must be empty to be structural',
  no: 'must be false to be structural',
  absent: 'must be undefined to be structural',
}

const shapeKeywords: readonly { readonly name: keyof JsonSchema; readonly problem: string }[] = [
  { name: 'type', problem: mustBe.empty },
  { name: 'additionalProperties', problem: mustBe.absent },
  { name: 'default', problem: mustBe.absent },
  { name: 'title', problem: mustBe.empty },
  { name: 'description', problem: mustBe.empty },
  { name: 'nullable', problem: mustBe.no },
  { name: 'x-kubernetes-preserve-unknown-fields', problem: mustBe.no },
  { name: 'x-kubernetes-embedded-resource', problem: mustBe.no },
  { name: 'x-kubernetes-int-or-string', problem: mustBe.no },
  { name: 'x-kubernetes-list-map-keys', problem: mustBe.empty },
  { name: 'x-kubernetes-list-type', problem: mustBe.absent },
  { name: 'x-kubernetes-map-type', problem: mustBe.absent },
  { name: 'x-kubernetes-validations', problem: mustBe.empty },
]

function validateNested(schema: JsonSchema, path: string, skipped: SkippedChoices): readonly FieldError[] {
  const items = itemSchema(schema)
  return [
    ...validateValueRules(schema, path, skipped),
    ...(items === undefined ? [] : validateNested(items, `${path}.items`, nothingSkipped)),
    ...schemasOf(schema.properties).flatMap(([name, property]) => validateNested(property, `${path}.properties[${name}]`, nothingSkipped)),
    ...shapeKeywords.filter(({ name }) => isShaping(name, schema[name])).map(({ name, problem }) => forbidden(`${path}.${name}`, problem)),
    ...(schema.properties?.metadata === undefined
      ? []
      : [forbidden(`${path}.properties[metadata]`, 'must not be specified in a nested context')]),
  ]
}

/** `additionalProperties: false` is significant; empty lists are not. */
const isShaping = (name: string, value: unknown): boolean =>
  isSet(name, value) &&
  !(name === 'x-kubernetes-preserve-unknown-fields' && value === false) &&
  !(Array.isArray(value) && value.length === 0)
