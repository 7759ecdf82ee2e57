// A custom kind from its definition: the same value as a built-in kind, so that it takes the same way through every room.

import type { BatchConversion } from '../../../api/conversion.js'
import type {
  Deprecation,
  ResourceDefinition,
  ResourceVersionDefinition,
  RuleContext,
  SubresourceDefinition,
} from '../../../api/definition.js'
import type { FieldError } from '../../../api/field-error.js'
import { asFirstGeneration, asNextGeneration } from '../../../api/generation.js'
import type { ApiObject } from '../../../api/object.js'
import { withOldMetadata } from '../../../api/old-metadata.js'
import { noErrors } from '../../../api/validation/fields.js'
import { dnsSubdomainProblems } from '../../../api/validation/name-problems.js'
import { sameValueBut } from '../../../api/validation/same-value.js'
import { compareVersions } from '../../../api/version-order.js'
import { onceFor } from '../../../base/once-for.js'
import { patternSize } from '../../../cel/pattern-size.js'
import type { StructNode } from '../../../schema/node.js'
import { readValue } from '../../../schema/read.js'
import { defaultOf, type JsonSchema } from '../json-schema.js'
import { hasExpressions } from '../schema-expressions.js'
import { someInner } from '../schema-search.js'
import type { CustomResourceDefinition, CustomResourceDefinitionVersion } from '../v1.schema.js'
import { validateEmbedded } from '../values/embedded-resource.js'
import { isSurelyValid } from '../values/surely-valid.js'
import { validateValue } from '../values/validate-value.js'
import { customScale, validateScaled } from './custom-scale.js'
import { structOfKind } from './custom-schema.js'
import { tableOf } from './custom-table.js'
import { withDefaults } from './default-value.js'
import { checkExpressions } from './expression-rules.js'
import { type Filling, RefusingFilling, SparingFilling } from './filling.js'
import { validateLists } from './list-duplicates.js'

/** What is said of a version once, and asked of every object. */
interface CustomVersion {
  readonly name: string
  readonly schema: JsonSchema
  readonly definition: CustomResourceDefinitionVersion
  readonly hasStatus: boolean
}

const versionOf = (definition: CustomResourceDefinitionVersion): CustomVersion => ({
  name: definition.name ?? '',
  schema: (definition.schema?.openAPIV3Schema ?? {}) as JsonSchema,
  definition,
  hasStatus: definition.subresources?.status !== undefined,
})

const fillsStatus = ({ schema, hasStatus }: CustomVersion): boolean =>
  hasStatus && defaultOf(schema.properties?.['status'] ?? {}) !== undefined

/** Of metadata a schema may restrict the name; the rest has rules of its own. */
function ownPart(object: ApiObject): { readonly [name: string]: unknown } {
  const { metadata: { name, generateName } = {}, ...rest } = object as ApiObject & { readonly [name: string]: unknown }
  return { ...rest, metadata: { ...(name === undefined ? {} : { name }), ...(generateName === undefined ? {} : { generateName }) } }
}

interface Validating {
  readonly object: ApiObject
  /** Left out where there was none. */
  readonly old?: ApiObject
  /** Who writes the status answers for the status alone. */
  readonly ofStatus?: boolean
}

const validateObject = ({ object, old, ofStatus = false }: Validating, version: CustomVersion): readonly FieldError[] => {
  const { schema, definition } = version
  const value = ownPart(object)
  const scale = definition.subresources?.scale
  const scaleErrors = scale === undefined ? noErrors : validateScaled(object, scale, ofStatus)
  if (scaleErrors.length === 0 && isSurelyValid(schema, value)) return noErrors
  const lists = validateLists(value, schema, '')
  const errors = [
    ...(ofStatus ? validateStatusPart(schema, value) : validateValue(schema, value, '')),
    ...scaleErrors,
    ...(ofStatus ? noErrors : validateEmbedded(value, schema, '')),
    // Items that were the same before the definition forbade that may stay so until somebody mends them.
    ...(lists.length > 0 && old !== undefined && validateLists(old, schema, '').length > 0 ? noErrors : lists),
  ]
  // The object as a whole has no path.
  return errors.map((error) => (error.field === '' ? { ...error, field: '<nil>' } : error))
}

/** By the schema of the status, as if there were nothing around it. */
function validateStatusPart(schema: JsonSchema, value: { readonly [name: string]: unknown }) {
  const own = schema.properties?.['status']
  return own === undefined || value['status'] === undefined ? noErrors : validateValue(own, value['status'], 'status')
}

/** Rules at the root see the kind, too; what verbs handle does not have it. */
const withTypeOf =
  (apiVersion: string, kind: string) =>
  (object: ApiObject): unknown => ({ ...object, apiVersion, kind })

/** What {@link customKind} reads of a definition. */
const sourceOf = ({ metadata, spec, status }: CustomResourceDefinition): object => ({
  metadata: { generation: metadata?.generation },
  spec,
  status: { acceptedNames: status?.acceptedNames },
})

/** How many steps one byte of a value may take at worst: instructions of the longest pattern, alternatives of anyOf and its like. */
function workOf(schema: JsonSchema): number {
  const { pattern, allOf = [], anyOf = [], oneOf = [] } = schema
  let most = (pattern === undefined ? 0 : patternSize(pattern)) + allOf.length + anyOf.length + oneOf.length
  someInner(schema, (inner) => {
    most = Math.max(most, workOf(inner))
    return false
  })
  return most
}

const workPerByte = onceFor(workOf)

/** One call of an expression on a text of this size can take hundreds of milliseconds. */
const costlyRuleBytes = 32 << 10

/** To compile one instruction of a pattern takes 4 µs; to match one against one byte takes up to 40 ns. */
const isCostly = (perByte: number, bytes: number): boolean => perByte > 5000 || perByte * bytes > 10_000_000

/** The kind that a definition describes; `group` and names are those that were accepted. */
export function customKind(definition: CustomResourceDefinition, conversion?: BatchConversion): ResourceDefinition {
  const { spec = {}, status } = definition
  const names = status?.acceptedNames ?? spec.names ?? {}
  const versions = new Map((spec.versions ?? []).map((version) => [version.name ?? '', versionOf(version)]))
  const stored = [...versions.values()].find((version) => version.definition.storage === true)
  // What somebody else converts is looked at in the version in which it is kept.
  const ruleOf = ({ version }: RuleContext): CustomVersion =>
    (conversion === undefined ? versions.get(version) : undefined) ?? (stored as CustomVersion)
  // Which parts of an object have an endpoint of their own is said for each version.
  const hasStatusIn = ({ version }: RuleContext): boolean => (versions.get(version) ?? stored)?.hasStatus === true
  // A status that is left out where objects are written is filled in where they are read, like anything that a later schema knows.
  const isRewritten = (definition.metadata?.generation ?? 1) > 1 || [...versions.values()].some(fillsStatus)
  const kind = names.kind ?? ''
  const structOf = onceFor(({ schema }: CustomVersion) => structOfKind(kind, schema))
  const refresh = stored !== undefined && isRewritten ? refreshing(structOf(stored), stored) : undefined
  const prepareUpdate = (next: ApiObject, old: ApiObject, context: RuleContext): ApiObject => {
    const hasStatus = hasStatusIn(context)
    const kept = hasStatus ? withStatusOf(next, old) : next
    return sameValueBut(kept, old, hasStatus ? ['metadata', 'status'] : ['metadata']) ? kept : asNextGeneration(kept, old)
  }
  const validateUpdate = (object: ApiObject, old: ApiObject, context: RuleContext): readonly FieldError[] =>
    validateObject({ object, old }, ruleOf(context))
  const validateSent: ResourceDefinition['validateSent'] = (object, context, subresource) => {
    const version = versions.get(context.version)
    // A scale is written into the object that is stored.
    if (version === undefined || subresource === 'scale') return noErrors
    const ofStatus = subresource === 'status'
    return validateObject({ object: version.hasStatus && !ofStatus ? withoutStatus(object) : object, ofStatus }, version)
  }
  // A kind without any makes nothing of it for each object.
  const hasRules = [...versions.values()].some(({ schema }) => hasExpressions(schema))
  const expressions: ResourceDefinition['expressions'] = (object, old, context, errors) => {
    const { name, schema } = ruleOf(context)
    const withType = withTypeOf(`${spec.group}/${name}`, kind)
    return checkExpressions({ schema, object: withType(object), old: old && withType(old) }, errors, context)
  }
  const statusSubresource: SubresourceDefinition = {
    name: 'status',
    verbs: ['get', 'patch', 'update'],
    prepareUpdate: (next, old) =>
      withOldMetadata({ ...old, metadata: next.metadata, status: (next as { status?: unknown }).status } as ApiObject, old),
    validateUpdate: (object, old, context) => validateObject({ object, old, ofStatus: true }, ruleOf(context)),
    resetFields: ['spec'],
  }
  const partsOf = ({ hasStatus, definition: { subresources, additionalPrinterColumns } }: CustomVersion): Parts => ({
    resetFields: hasStatus ? ['status'] : [],
    subresources: [
      ...(hasStatus ? [statusSubresource] : []),
      ...(subresources?.scale === undefined ? [] : [customScale(subresources.scale, { prepareUpdate, validateUpdate })]),
    ],
    table: tableOf(additionalPrinterColumns ?? []),
  })
  return {
    group: spec.group ?? '',
    kind,
    custom: { singular: names.singular ?? '', listKind: names.listKind ?? `${kind}List`, source: sourceOf(definition) },
    verbs: ['delete', 'deletecollection', 'get', 'list', 'patch', 'create', 'update', 'watch'],
    resource: names.plural ?? '',
    ...(names.shortNames?.length ? { shortNames: names.shortNames } : {}),
    ...(names.categories?.length ? { categories: names.categories } : {}),
    namespaced: spec.scope === 'Namespaced',
    versions: [...versions.values()].map((version) =>
      servedVersion(version, {
        stored: stored ?? version,
        structOf,
        own: partsOf(version),
        isConverted: conversion !== undefined,
        refresh,
        deprecation: deprecationOf(version, [...versions.values()], `${spec.group}`, kind),
      }),
    ),
    ...(conversion === undefined ? {} : { conversion, validateSent }),
    ...(refresh === undefined ? {} : { readStored: refresh }),
    nameProblems: dnsSubdomainProblems,
    selectableFields: {},
    anyFinalizer: true,
    versionRequiredOnUpdate: true,
    prepareCreate: (object, context) => asFirstGeneration(hasStatusIn(context) ? withoutStatus(object) : object),
    prepareUpdate,
    validate: (object, context) => validateObject({ object }, ruleOf(context)),
    isCostlyToValidate: (_, bytes) =>
      (hasRules && bytes > costlyRuleBytes) || [...versions.values()].some(({ schema }) => isCostly(workPerByte(schema), bytes)),
    ...(hasRules ? { expressions } : {}),
    validateUpdate,
    ...(stored === undefined ? {} : partsOf(stored)),
  }
}

/** What each version has for itself. */
type Parts = NonNullable<ResourceVersionDefinition['own']>

interface Serving {
  readonly own: Parts
  readonly stored: CustomVersion
  readonly structOf: (version: CustomVersion) => StructNode
  /** Somebody else converts between the versions. */
  readonly isConverted: boolean
  /** Where objects may be stored that lack what the schema fills in: its definition has changed since it was made, for one. */
  readonly refresh: ((object: ApiObject) => ApiObject) | undefined
  readonly deprecation: Deprecation | undefined
}

/** What clients of a version are told that will go. */
function deprecationOf(
  { name, definition }: CustomVersion,
  all: readonly CustomVersion[],
  group: string,
  kind: string,
): Deprecation | undefined {
  if (definition.deprecated !== true) return undefined
  if (definition.deprecationWarning !== undefined) return { warning: definition.deprecationWarning, deprecatedIn: '' }
  const [better] = all
    .filter((other) => other.definition.served === true && other.definition.deprecated !== true)
    .map((other) => other.name)
    .filter((other) => compareVersions(other, name) < 0)
    .sort(compareVersions)
  const instead = better === undefined ? '' : `; use ${group}/${better} ${kind}`
  return { warning: `${group}/${name} ${kind} is deprecated${instead}`, deprecatedIn: '' }
}

const prune = (struct: StructNode, object: ApiObject): ApiObject => readValue(struct, object).value as ApiObject

const filled = (object: ApiObject, by: CustomVersion, filling: Filling = new SparingFilling()): ApiObject =>
  withDefaults(object, by.schema, filling) as ApiObject

/** Reads what was stored by the schema of today. What it made itself it knows again: a write reads an object for several of its steps. */
function refreshing(struct: StructNode, stored: CustomVersion): (object: ApiObject) => ApiObject {
  const made = new WeakSet<ApiObject>()
  return (object) => {
    if (made.has(object)) return object
    const refreshed = filled(prune(struct, object), stored)
    made.add(refreshed)
    return refreshed
  }
}

function servedVersion(
  version: CustomVersion,
  { own, stored, structOf, isConverted, refresh, deprecation }: Serving,
): ResourceVersionDefinition {
  const schema = structOf(version)
  const isStored = version.definition.storage === true
  const asStored = structOf(stored)
  // What was stored under another schema of its version is read by the one of today. Whoever reads another version is shown what that one knows,
  // with nothing filled in; what is kept has the defaults of the stored one.
  const fromStored = isStored ? refresh : (object: ApiObject) => prune(schema, refresh?.(object) ?? object)
  return {
    name: version.name,
    schema,
    own,
    ...(isStored ? { stored: true } : {}),
    ...((isConverted && !isStored) || fromStored === undefined ? {} : { fromStored }),
    ...(isConverted || isStored ? {} : { toStored: (object) => filled(prune(asStored, filled(object, version)), stored) }),
    defaults: (object, context) => filled(object, version, new RefusingFilling(context)),
    ...(deprecation === undefined ? {} : { deprecation }),
    ...(version.definition.served === true ? {} : { unserved: true as const }),
    published: version.schema as { readonly [keyword: string]: unknown },
  }
}

function withoutStatus(object: ApiObject): ApiObject {
  const { status: _, ...rest } = object as ApiObject & { readonly status?: unknown }
  return rest
}

function withStatusOf(next: ApiObject, old: ApiObject): ApiObject {
  const { status } = old as ApiObject & { readonly status?: unknown }
  return status === undefined ? withoutStatus(next) : ({ ...next, status } as ApiObject)
}
