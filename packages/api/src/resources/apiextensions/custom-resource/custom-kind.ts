// Builds the ResourceDefinition of a custom resource from its CRD: pruning, defaulting, validation, versions, subresources.

import { compareVersions } from '../../../api/catalog/version-order.js'
import type { BatchConversion } from '../../../api/definition/conversion-webhook.js'
import { asFirstGeneration, asNextGeneration } from '../../../api/definition/generation.js'
import { withOldMetadata } from '../../../api/definition/keep-metadata.js'
import type {
  Deprecation,
  ResourceDefinition,
  ResourceVersionDefinition,
  RuleContext,
  SubresourceDefinition,
} from '../../../api/definition/resource-definition.js'
import { duplicate, type FieldError, invalid } from '../../../api/field-error.js'
import type { ApiObject } from '../../../api/object.js'
import { dnsSubdomainProblems, noErrors } from '../../../api/validation/checks.js'
import { sameValueBut } from '../../../api/validation/same-value.js'
import { weakMemoize } from '../../../base/recent-map.js'
import { compareText } from '../../../base/text-order.js'
import { regexSize } from '../../../cel/regex/regex-size.js'
import { isRecord, readValue } from '../../../schema/json/read.js'
import { writeAny } from '../../../schema/json/write.js'
import type { StructNode } from '../../../schema/node.js'
import { additionalSchema, defaultOf, itemSchema, type JsonSchema } from '../schema/json-schema.js'
import { hasExpressions, someInner } from '../schema/schema-search.js'
import type { CustomResourceDefinition, CustomResourceDefinitionVersion } from '../v1.schema.js'
import { validateEmbedded } from '../values/embedded-resource.js'
import { passesFastValidation } from '../values/fast-validation.js'
import { validateValue } from '../values/validate-value.js'
import { tableOf } from './additional-printer-columns.js'
import { checkExpressions } from './cel-validation-rules.js'
import { customScale, validateScaled } from './custom-scale.js'
import { structOfKind } from './pruning-schema.js'
import { type DefaultingBudget, RequestDefaultingBudget, StoredDefaultingBudget, withDefaults } from './structural-defaulting.js'

export function validateLists(value: unknown, schema: JsonSchema | undefined, path: string): readonly FieldError[] {
  if (schema === undefined) return []
  if (Array.isArray(value)) {
    const items = itemSchema(schema)
    return [...findDuplicates(value, schema, path), ...value.flatMap((item, i) => validateLists(item, items, `${path}[${i}]`))]
  }
  if (!isRecord(value)) return []
  const additional = additionalSchema(schema)
  return Object.entries(value).flatMap(([name, member]) => {
    const property = schema.properties !== undefined && Object.hasOwn(schema.properties, name) ? schema.properties[name] : undefined
    return property === undefined
      ? validateLists(member, additional, `${path}[${name}]`)
      : validateLists(member, property, path === '' ? name : `${path}.${name}`)
  })
}

function findDuplicates(items: readonly unknown[], schema: JsonSchema, path: string): readonly FieldError[] {
  const type = schema['x-kubernetes-list-type']
  if (type !== 'set' && type !== 'map') return []
  // Reports only the first item that is not an object.
  const stray = type === 'set' ? -1 : items.findIndex((item) => item !== null && !isRecord(item))
  if (stray !== -1) return [invalid(`${path}[${stray}]`, items[stray], 'must be an object for an array of list-type map')]
  const keys = schema['x-kubernetes-list-map-keys'] ?? []
  // A null item has no keys.
  const keyOf = (item: unknown): unknown =>
    type === 'set'
      ? item
      : Object.fromEntries(keys.flatMap((key) => (isRecord(item) && Object.hasOwn(item, key) ? [[key, item[key]]] : [])))
  const seen = new Map<string, number>()
  const errors: FieldError[] = []
  items.forEach((item, i) => {
    const key = keyOf(item)
    const text = writeAny(withSortedMembers(key))
    const count = (seen.get(text) ?? 0) + 1
    // Each duplicate value is reported once.
    if (count === 2) errors.push(duplicate(`${path}[${i}]`, key))
    seen.set(text, count)
  })
  return errors
}

/** Makes the text of equal objects equal. */
function withSortedMembers(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withSortedMembers)
  if (!isRecord(value)) return value
  const members = Object.entries(value).sort(([a], [b]) => compareText(a, b))
  return Object.fromEntries(members.map(([name, member]) => [name, withSortedMembers(member)]))
}

interface CustomVersion {
  readonly name: string
  readonly schema: JsonSchema
  readonly crdVersion: CustomResourceDefinitionVersion
  readonly hasStatus: boolean
}

const versionOf = (crdVersion: CustomResourceDefinitionVersion): CustomVersion => ({
  name: crdVersion.name ?? '',
  schema: (crdVersion.schema?.openAPIV3Schema ?? {}) as JsonSchema,
  crdVersion,
  hasStatus: crdVersion.subresources?.status !== undefined,
})

const hasStatusDefaults = ({ schema, hasStatus }: CustomVersion): boolean =>
  hasStatus && defaultOf(schema.properties?.['status'] ?? {}) !== undefined

/** Drops metadata except name and generateName: schemas may restrict nothing else there. */
function validatedPart(object: ApiObject): { readonly [name: string]: unknown } {
  const { metadata: { name, generateName } = {}, ...rest } = object as ApiObject & { readonly [name: string]: unknown }
  return { ...rest, metadata: { ...(name === undefined ? {} : { name }), ...(generateName === undefined ? {} : { generateName }) } }
}

interface ValidationInput {
  readonly object: ApiObject
  readonly old?: ApiObject
  /** True for updates of the status subresource, which do not validate embedded resources and spec.replicas. */
  readonly isStatusUpdate?: boolean
}

const validateObject = ({ object, old, isStatusUpdate = false }: ValidationInput, version: CustomVersion): readonly FieldError[] => {
  const { schema, crdVersion } = version
  const value = validatedPart(object)
  const scale = crdVersion.subresources?.scale
  const scaleErrors = scale === undefined ? noErrors : validateScaled(object, scale, isStatusUpdate)
  if (scaleErrors.length === 0 && passesFastValidation(schema, value)) return noErrors
  const listErrors = validateLists(value, schema, '')
  const errors = [
    ...validateValue(schema, value, ''),
    ...scaleErrors,
    ...(isStatusUpdate ? noErrors : validateEmbedded(value, schema, '')),
    // Tolerates duplicates if the old object has some: an earlier schema may have allowed them.
    ...(listErrors.length > 0 && old !== undefined && validateLists(old, schema, '').length > 0 ? noErrors : listErrors),
  ]
  // Errors at the root have the path `<nil>`.
  return errors.map((error) => (error.field === '' ? { ...error, field: '<nil>' } : error))
}

/** Adds apiVersion and kind, which CEL rules at the root can read. */
const withTypeOf =
  (apiVersion: string, kind: string) =>
  (object: ApiObject): unknown => ({ ...object, apiVersion, kind })

const sourceOf = ({ metadata, spec, status }: CustomResourceDefinition): object => ({
  metadata: { generation: metadata?.generation },
  spec,
  status: { acceptedNames: status?.acceptedNames },
})

/** Worst-case steps per byte: regular expression instructions and schemas in allOf, anyOf and oneOf. */
function workOf(schema: JsonSchema): number {
  const { pattern, allOf = [], anyOf = [], oneOf = [] } = schema
  let maxWork = (pattern === undefined ? 0 : regexSize(pattern)) + allOf.length + anyOf.length + oneOf.length
  someInner(schema, (inner) => {
    maxWork = Math.max(maxWork, workOf(inner))
    return false
  })
  return maxWork
}

const workPerByte = weakMemoize(workOf)

/** Bytes of an object above which CEL rules run in a worker thread: one call on such a text can take hundreds of ms. */
const costlyRuleBytes = 32 << 10

/** Compiling a regular expression instruction takes 4 µs; matching one byte takes up to 40 ns. */
const isCostly = (perByte: number, bytes: number): boolean => perByte > 5000 || perByte * bytes > 10_000_000

export function customKind(crd: CustomResourceDefinition, conversion?: BatchConversion): ResourceDefinition {
  const { spec = {}, status } = crd
  const names = status?.acceptedNames ?? spec.names ?? {}
  const versions = new Map((spec.versions ?? []).map((version) => [version.name ?? '', versionOf(version)]))
  const stored = [...versions.values()].find((version) => version.crdVersion.storage === true)
  const versionFor = ({ version }: RuleContext): CustomVersion => versions.get(version) ?? (stored as CustomVersion)
  // Subresources differ by version.
  const hasStatusIn = ({ version }: RuleContext): boolean => (versions.get(version) ?? stored)?.hasStatus === true
  // Defaults of status and of later CRD generations are applied on read.
  const needsRefresh = (crd.metadata?.generation ?? 1) > 1 || [...versions.values()].some(hasStatusDefaults)
  const kind = names.kind ?? ''
  const structOf = weakMemoize(({ schema }: CustomVersion) => structOfKind(kind, schema))
  const refresh = stored !== undefined && needsRefresh ? refresherOf(structOf(stored), stored) : undefined
  const prepareUpdate = (next: ApiObject, old: ApiObject, context: RuleContext): ApiObject => {
    const hasStatus = hasStatusIn(context)
    const prepared = hasStatus ? withStatusOf(next, old) : next
    return sameValueBut(prepared, old, hasStatus ? ['metadata', 'status'] : ['metadata']) ? prepared : asNextGeneration(prepared, old)
  }
  const validateUpdate = (object: ApiObject, old: ApiObject, context: RuleContext): readonly FieldError[] =>
    validateObject({ object, old }, versionFor(context))
  const hasRules = [...versions.values()].some(({ schema }) => hasExpressions(schema))
  const expressions: ResourceDefinition['expressions'] = (object, old, context, errors) => {
    const { name, schema } = versionFor(context)
    const withType = withTypeOf(`${spec.group}/${name}`, kind)
    return checkExpressions({ schema, object: withType(object), old: old && withType(old) }, errors, context)
  }
  const statusSubresource: SubresourceDefinition = {
    name: 'status',
    verbs: ['get', 'patch', 'update'],
    prepareUpdate: (next, old) =>
      withOldMetadata({ ...old, metadata: next.metadata, status: (next as { status?: unknown }).status } as ApiObject, old),
    validateUpdate: (object, old, context) => validateObject({ object, old, isStatusUpdate: true }, versionFor(context)),
    resetFields: ['spec'],
  }
  const overridesOf = ({ hasStatus, crdVersion: { subresources, additionalPrinterColumns } }: CustomVersion): VersionOverrides => ({
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
    custom: { singular: names.singular ?? '', listKind: names.listKind ?? `${kind}List`, source: sourceOf(crd) },
    verbs: ['delete', 'deletecollection', 'get', 'list', 'patch', 'create', 'update', 'watch'],
    resource: names.plural ?? '',
    ...(names.shortNames?.length ? { shortNames: names.shortNames } : {}),
    ...(names.categories?.length ? { categories: names.categories } : {}),
    namespaced: spec.scope === 'Namespaced',
    versions: [...versions.values()].map((version) =>
      servedVersion(version, {
        stored: stored ?? version,
        structOf,
        overrides: overridesOf(version),
        isConverted: conversion !== undefined,
        refresh,
        deprecation: deprecationOf(version, [...versions.values()], `${spec.group}`, kind),
      }),
    ),
    validatesRequestVersion: true,
    ...(conversion === undefined ? {} : { conversion }),
    ...(refresh === undefined ? {} : { readStored: refresh }),
    nameProblems: dnsSubdomainProblems,
    selectableFields: {},
    anyFinalizer: true,
    versionRequiredOnUpdate: true,
    prepareCreate: (object, context) => asFirstGeneration(hasStatusIn(context) ? withoutStatus(object) : object),
    prepareUpdate,
    validate: (object, context) => validateObject({ object }, versionFor(context)),
    isCostlyToValidate: (_, bytes) =>
      (hasRules && bytes > costlyRuleBytes) || [...versions.values()].some(({ schema }) => isCostly(workPerByte(schema), bytes)),
    ...(hasRules ? { expressions } : {}),
    validateUpdate,
    ...(stored === undefined ? {} : overridesOf(stored)),
  }
}

type VersionOverrides = NonNullable<ResourceVersionDefinition['overrides']>

interface VersionContext {
  readonly overrides: VersionOverrides
  readonly stored: CustomVersion
  readonly structOf: (version: CustomVersion) => StructNode
  readonly isConverted: boolean
  /** Set if stored objects may lack defaults, because the CRD has changed or its status has defaults. */
  readonly refresh: ((object: ApiObject) => ApiObject) | undefined
  readonly deprecation: Deprecation | undefined
}

function deprecationOf(
  { name, crdVersion }: CustomVersion,
  all: readonly CustomVersion[],
  group: string,
  kind: string,
): Deprecation | undefined {
  if (crdVersion.deprecated !== true) return undefined
  if (crdVersion.deprecationWarning !== undefined) return { warning: crdVersion.deprecationWarning, deprecatedIn: '' }
  const [better] = all
    .filter((other) => other.crdVersion.served === true && other.crdVersion.deprecated !== true)
    .map((other) => other.name)
    .filter((other) => compareVersions(other, name) < 0)
    .sort(compareVersions)
  const instead = better === undefined ? '' : `; use ${group}/${better} ${kind}`
  return { warning: `${group}/${name} ${kind} is deprecated${instead}`, deprecatedIn: '' }
}

const prune = (struct: StructNode, object: ApiObject): ApiObject => readValue(struct, object).value as ApiObject

const withDefaultsOf = (object: ApiObject, version: CustomVersion, budget: DefaultingBudget = new StoredDefaultingBudget()): ApiObject =>
  withDefaults(object, version.schema, budget) as ApiObject

/** Remembers its results: a write reads an object in several steps. */
function refresherOf(struct: StructNode, stored: CustomVersion): (object: ApiObject) => ApiObject {
  const refreshedObjects = new WeakSet<ApiObject>()
  return (object) => {
    if (refreshedObjects.has(object)) return object
    const refreshed = withDefaultsOf(prune(struct, object), stored)
    refreshedObjects.add(refreshed)
    return refreshed
  }
}

function servedVersion(
  version: CustomVersion,
  { overrides, stored, structOf, isConverted, refresh, deprecation }: VersionContext,
): ResourceVersionDefinition {
  const schema = structOf(version)
  const isStored = version.crdVersion.storage === true
  const storedStruct = structOf(stored)
  // Stored objects get the current schema; other versions are pruned, not defaulted.
  const fromStored = isStored ? refresh : (object: ApiObject) => prune(schema, refresh?.(object) ?? object)
  return {
    name: version.name,
    schema,
    overrides,
    ...(isStored ? { stored: true } : {}),
    ...((isConverted && !isStored) || fromStored === undefined ? {} : { fromStored }),
    ...(isConverted || isStored
      ? {}
      : { toStored: (object) => withDefaultsOf(prune(storedStruct, withDefaultsOf(object, version)), stored) }),
    defaults: (object, context) => withDefaultsOf(object, version, new RequestDefaultingBudget(context)),
    ...(deprecation === undefined ? {} : { deprecation }),
    ...(version.crdVersion.served === true ? {} : { unserved: true as const }),
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
