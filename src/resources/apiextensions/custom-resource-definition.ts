// Definitions of custom kinds: what a kind is called, in which versions it exists, and what its objects must be.

import { defineResource, type FeatureGates, type RuleContext } from '../../api/definition.js'
import { asFirstGeneration, asNextGeneration } from '../../api/generation.js'
import type { Identity } from '../../api/identity.js'
import { dnsSubdomainProblems } from '../../api/validation/name-problems.js'
import { sameBySchema } from '../../api/validation/same-by-schema.js'
import { timeOf } from '../../schema/scalars.js'
import { withMissing } from '../core/pod-spec/missing-members.js'
import { withConversion } from './conversion-rules.js'
import { withNames } from './definition-names.js'
import { validateDefinition, validateDefinitionChange, validateStatus } from './definition-rules.js'
import { isCostlyDefinition } from './definition-weight.js'
import type { JsonSchema } from './json-schema.js'
import { hasExpressions, withoutExpressions } from './schema-expressions.js'
import {
  customResourceDefinitionSpec,
  type CustomResourceDefinition as Definition,
  customResourceDefinition as schema,
} from './v1.schema.js'

/** The version in which objects are stored, in a list. */
const storageVersion = ({ spec }: Definition): readonly string[] =>
  (spec?.versions ?? [])
    .filter(({ storage }) => storage)
    .slice(0, 1)
    .map(({ name = '' }) => name)

function defaults(definition: Definition): Definition {
  const spec = withConversion(withNames(definition.spec ?? {}))
  const named = spec === definition.spec ? definition : { ...definition, spec }
  const stored = storageVersion(named)
  if ((named.status?.storedVersions ?? []).length > 0 || stored.length === 0) return named
  return { ...named, status: withMissing(named.status ?? {}, { storedVersions: stored }) }
}

/** The definition with the storage version among those in which objects may be stored. */
function withStoredVersion(definition: Definition): Definition {
  const stored = definition.status?.storedVersions ?? []
  const added = storageVersion(definition).filter((name) => !stored.includes(name))
  return added.length === 0 ? definition : { ...definition, status: { ...definition.status, storedVersions: [...stored, ...added] } }
}

const usesExpressions = ({ spec }: Definition): boolean =>
  (spec?.versions ?? []).some(({ schema: own }) => hasExpressions((own?.openAPIV3Schema ?? {}) as JsonSchema))

/** Without the feature, rules that are written as expressions are dropped, unless the definition had some before. */
function withinGates(next: Definition, gates: FeatureGates, old: Definition = {}): Definition {
  if (gates('CustomResourceValidationExpressions') || next.spec?.versions === undefined || usesExpressions(old)) return next
  const versions = next.spec.versions.map((version) =>
    version.schema?.openAPIV3Schema === undefined
      ? version
      : { ...version, schema: { openAPIV3Schema: withoutExpressions(version.schema.openAPIV3Schema as JsonSchema) } },
  )
  return { ...next, spec: { ...next.spec, versions } }
}

/** Holds a definition that is being deleted until the objects of its kind are gone. */
export const cleanupFinalizer = (identity: Identity): string => `customresourcecleanup.${identity.group({ stem: 'apiextensions' })}`

const isBeingDeleted = ({ metadata }: Definition): boolean => metadata?.deletionTimestamp !== undefined

/** Marked for deletion: from then on the finalizer holds it. */
function asTerminating(definition: Definition, { identity, now }: RuleContext): Definition {
  const finalizer = cleanupFinalizer(identity)
  const finalizers = definition.metadata?.finalizers ?? []
  const others = (definition.status?.conditions ?? []).filter(({ type }) => type !== 'Terminating')
  const terminating = {
    type: 'Terminating',
    status: 'True',
    lastTransitionTime: timeOf(now),
    reason: 'InstanceDeletionPending',
    message: 'CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon',
  }
  return {
    ...definition,
    metadata: { ...definition.metadata, finalizers: finalizers.includes(finalizer) ? finalizers : [...finalizers, finalizer] },
    status: { ...definition.status, conditions: [...others, terminating] },
  }
}

export const customResourceDefinition = defineResource<Definition>({
  group: { stem: 'apiextensions' },
  kind: 'CustomResourceDefinition',
  resource: 'customresourcedefinitions',
  shortNames: ['crd', 'crds'],
  categories: ['api-extensions'],
  namespaced: false,
  versions: [{ name: 'v1', schema, stored: true }],
  hashedVersion: 'v1beta1',
  holdsOthers: true,
  isHeld: (definition) => !isBeingDeleted(definition),
  prepareDelete: asTerminating,
  nameProblems: dnsSubdomainProblems,
  // The one that holds it has no domain.
  anyFinalizer: true,
  defaults,
  prepareCreate: (definition, { gates }) => asFirstGeneration(withStoredVersion({ ...withinGates(definition, gates), status: {} })),
  prepareUpdate: (next, old, { gates }) => {
    const kept = withStoredVersion({ ...withinGates(next, gates, old), status: old.status ?? {} })
    return sameBySchema(customResourceDefinitionSpec, kept.spec ?? {}, old.spec ?? {}) ? kept : asNextGeneration(kept, old)
  },
  validate: validateDefinition,
  isCostlyToValidate: ({ spec = {} }) => isCostlyDefinition(spec),
  validateUpdate: validateDefinitionChange,
  versionRequiredOnUpdate: true,
  resetFields: ['status'],
  subresources: [
    {
      name: 'status',
      verbs: ['get', 'patch', 'update'],
      // What it says of metadata counts, too: so the one who tends it lets it go together with the last word on it.
      prepareUpdate: (next, old) => ({ ...next, spec: old.spec ?? {} }),
      validateUpdate: validateStatus,
      resetFields: ['metadata', 'spec'],
    },
  ],
})
