// The scale subresource of workloads.

import type { RuleContext, SubresourceDefinition } from '../../api/definition/resource-definition.js'
import type { FieldError } from '../../api/field-error.js'
import type { ApiObject, ObjectMeta } from '../../api/object.js'
import { checkNotNegative, dnsSubdomainProblems, joined } from '../../api/validation/checks.js'
import { validateObjectMeta } from '../../api/validation/metadata/object-meta.js'
import { ageColumn, countColumn, tableOf, textColumn } from '../printer-columns.js'
import { type Scale, scale as schema } from './v1.schema.js'

interface Scaled extends ApiObject {
  readonly spec?: { readonly replicas?: number }
  readonly status?: { readonly replicas?: number }
}

interface ScaleRules<T extends Scaled> {
  readonly selectorOf: (object: T) => string
  readonly prepareUpdate: (next: T, old: T, context: RuleContext) => T
  readonly validateUpdate: (next: T, old: T, context: RuleContext) => readonly FieldError[]
}

const metadataNames = ['name', 'namespace', 'uid', 'resourceVersion', 'creationTimestamp'] as const

export const scaleMetadata = ({ metadata = {} }: ApiObject): ObjectMeta =>
  Object.fromEntries(metadataNames.flatMap((name) => (metadata[name] === undefined ? [] : [[name, metadata[name]]])))

function readScale<T extends Scaled>(object: T, selectorOf: ScaleRules<T>['selectorOf']): Scale {
  const { spec, status } = object
  return {
    metadata: scaleMetadata(object),
    spec: { replicas: spec?.replicas ?? 0 },
    status: { replicas: status?.replicas ?? 0, selector: selectorOf(object) },
  }
}

const validateScale = ({ metadata = {}, spec }: Scale): readonly FieldError[] =>
  joined(
    validateObjectMeta(metadata, { namespaced: true, nameProblems: dnsSubdomainProblems }),
    checkNotNegative(spec?.replicas ?? 0, 'spec.replicas'),
  )

const table = tableOf<Scale>(
  textColumn('Name', 'Name of the workload.', ({ metadata }) => metadata?.name ?? ''),
  countColumn('Desired', 'Desired number of pods.', ({ spec }) => spec?.replicas ?? 0),
  countColumn('Available', 'Current number of pods.', ({ status }) => status?.replicas ?? 0),
  ageColumn,
)

export const scaleSubresource = <T extends Scaled>(rules: ScaleRules<T>): SubresourceDefinition<T> => ({
  name: 'scale',
  verbs: ['get', 'patch', 'update'],
  view: {
    group: 'autoscaling',
    version: 'v1',
    kind: 'Scale',
    schema,
    read: (object) => readScale(object, rules.selectorOf),
    write: (view, object) => ({ ...object, spec: { ...object.spec, replicas: (view as Scale).spec?.replicas ?? 0 } }),
    validate: (view) => validateScale(view as Scale),
    table,
  },
  prepareUpdate: rules.prepareUpdate,
  validateUpdate: rules.validateUpdate,
})
