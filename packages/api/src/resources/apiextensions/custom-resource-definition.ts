// CustomResourceDefinition: defaults, stored versions, deletion with the cleanup finalizer.

import { asFirstGeneration, asNextGeneration } from '../../api/definition/generation.js'
import { defineResource, type FeatureGates, type RuleContext } from '../../api/definition/resource-definition.js'
import type { Identity } from '../../api/identity.js'
import { dnsSubdomainProblems } from '../../api/validation/checks.js'
import { sameBySchema } from '../../api/validation/same-by-schema.js'
import { regexCompileNs } from '../../cel/regex/regex.js'
import { timeOf } from '../../schema/scalars.js'
import { statusSubresource } from '../status-subresource.js'
import type { JsonSchema } from './schema/json-schema.js'
import { hasExpressions, innerSchemas, withoutExpressions } from './schema/schema-search.js'
import {
  type CustomResourceDefinition as Crd,
  customResourceDefinitionSpec,
  type CustomResourceDefinitionSpec as Spec,
  customResourceDefinition as schema,
} from './v1.schema.js'
import { validateCrd, validateCrdUpdate, validateStatus, withConversion, withNames } from './validation/crd-validation.js'

/** Estimated nanoseconds above which validation runs in a worker thread. */
const maxMainThreadNs = 20_000_000

/** Cost per schema, per level above it (field paths grow), and per enum value. */
const cost = { schemaNs: 12_000, levelNs: 250, valueNs: 3000 }

/** Estimates from the text of the CRD, before patterns and expressions are compiled. */
export function isCostlyCrd({ versions = [] }: Spec): boolean {
  let workNs = 0
  for (const { schema } of versions) workNs += schemaCostNs((schema?.openAPIV3Schema ?? {}) as JsonSchema, 0)
  return workNs > maxMainThreadNs
}

/** Counts a CEL expression like a regular expression of the same text. */
function schemaCostNs(schema: JsonSchema, depth: number): number {
  let workNs = cost.schemaNs + depth * cost.levelNs + (schema.enum?.length ?? 0) * cost.valueNs
  if (schema.pattern !== undefined) workNs += regexCompileNs(schema.pattern)
  for (const { rule } of schema['x-kubernetes-validations'] ?? []) workNs += regexCompileNs(rule ?? '')
  for (const inner of innerSchemas(schema)) workNs += schemaCostNs(inner, depth + 1)
  return workNs
}

const storageVersion = ({ spec }: Crd): readonly string[] =>
  (spec?.versions ?? [])
    .filter(({ storage }) => storage)
    .slice(0, 1)
    .map(({ name = '' }) => name)

function defaults(crd: Crd): Crd {
  const spec = withConversion(withNames(crd.spec ?? {}))
  const withSpecDefaults = spec === crd.spec ? crd : { ...crd, spec }
  const stored = storageVersion(withSpecDefaults)
  if ((withSpecDefaults.status?.storedVersions ?? []).length > 0 || stored.length === 0) return withSpecDefaults
  return { ...withSpecDefaults, status: { ...withSpecDefaults.status, storedVersions: stored } }
}

function withStoredVersion(crd: Crd): Crd {
  const stored = crd.status?.storedVersions ?? []
  const added = storageVersion(crd).filter((name) => !stored.includes(name))
  return added.length === 0 ? crd : { ...crd, status: { ...crd.status, storedVersions: [...stored, ...added] } }
}

const usesExpressions = ({ spec }: Crd): boolean =>
  (spec?.versions ?? []).some((version) => hasExpressions((version.schema?.openAPIV3Schema ?? {}) as JsonSchema))

function withoutGatedExpressions(next: Crd, gates: FeatureGates, old: Crd = {}): Crd {
  if (gates('CustomResourceValidationExpressions') || next.spec?.versions === undefined || usesExpressions(old)) return next
  const versions = next.spec.versions.map((version) =>
    version.schema?.openAPIV3Schema === undefined
      ? version
      : { ...version, schema: { openAPIV3Schema: withoutExpressions(version.schema.openAPIV3Schema as JsonSchema) } },
  )
  return { ...next, spec: { ...next.spec, versions } }
}

/** Blocks deletion of the CRD until its custom resources are deleted. */
export const cleanupFinalizer = (identity: Identity): string => `customresourcecleanup.${identity.group({ stem: 'apiextensions' })}`

const isBeingDeleted = ({ metadata }: Crd): boolean => metadata?.deletionTimestamp !== undefined

/** Adds the Terminating condition and the cleanup finalizer, which blocks deletion. */
function asTerminating(crd: Crd, { identity, now }: RuleContext): Crd {
  const finalizer = cleanupFinalizer(identity)
  const finalizers = crd.metadata?.finalizers ?? []
  const otherConditions = (crd.status?.conditions ?? []).filter(({ type }) => type !== 'Terminating')
  const terminating = {
    type: 'Terminating',
    status: 'True',
    lastTransitionTime: timeOf(now),
    reason: 'InstanceDeletionPending',
    message: 'CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon',
  }
  return {
    ...crd,
    metadata: { ...crd.metadata, finalizers: finalizers.includes(finalizer) ? finalizers : [...finalizers, finalizer] },
    status: { ...crd.status, conditions: [...otherConditions, terminating] },
  }
}

export const customResourceDefinition = defineResource<Crd>({
  group: { stem: 'apiextensions' },
  kind: 'CustomResourceDefinition',
  resource: 'customresourcedefinitions',
  shortNames: ['crd', 'crds'],
  categories: ['api-extensions'],
  namespaced: false,
  versions: [{ name: 'v1', schema, stored: true }],
  hashedVersion: 'v1beta1',
  containsObjects: true,
  isDeletionBlocked: (crd) => !isBeingDeleted(crd),
  prepareDelete: asTerminating,
  nameProblems: dnsSubdomainProblems,
  // The cleanup finalizer is not of the form `domain/name`.
  anyFinalizer: true,
  defaults,
  prepareCreate: (crd, { gates }) => asFirstGeneration(withStoredVersion({ ...withoutGatedExpressions(crd, gates), status: {} })),
  prepareUpdate: (next, old, { gates }) => {
    const prepared = withStoredVersion({ ...withoutGatedExpressions(next, gates, old), status: old.status ?? {} })
    return sameBySchema(customResourceDefinitionSpec, prepared.spec ?? {}, old.spec ?? {}) ? prepared : asNextGeneration(prepared, old)
  },
  validate: validateCrd,
  isCostlyToValidate: ({ spec = {} }) => isCostlyCrd(spec),
  validateUpdate: validateCrdUpdate,
  versionRequiredOnUpdate: true,
  resetFields: ['status'],
  subresources: [statusSubresource<Crd>({ hasNoTable: true, validateUpdate: validateStatus, resetFields: ['metadata', 'spec'] })],
})
