// The size of a workload as a subresource of its own, the same for all kinds that have one.

import type { Column, RuleContext, SubresourceDefinition } from '../../api/definition.js'
import type { FieldError } from '../../api/field-error.js'
import { ageOf } from '../../api/human-duration.js'
import type { ApiObject, ObjectMeta } from '../../api/object.js'
import { ageColumn, textColumn } from '../../api/table-columns.js'
import { joined } from '../../api/validation/collect.js'
import { checkNotNegative } from '../../api/validation/fields.js'
import { dnsSubdomainProblems } from '../../api/validation/name-problems.js'
import { validateObjectMeta } from '../../api/validation/object-meta.js'
import { countColumn } from '../core/workload-columns.js'
import { type Scale, scale as schema } from './v1.schema.js'

interface Scaled extends ApiObject {
  readonly spec?: { readonly replicas?: number }
  readonly status?: { readonly replicas?: number }
}

/** What differs from kind to kind. */
export interface ScaleRules<T extends Scaled> {
  /** Which pods belong to an object, as text. */
  readonly selectorOf: (object: T) => string
  /** How the main resource prepares and checks a change: a change of the size is one. */
  readonly prepareUpdate: (next: T, old: T, context: RuleContext) => T
  readonly validateUpdate: (next: T, old: T, context: RuleContext) => readonly FieldError[]
}

const metadataNames = ['name', 'namespace', 'uid', 'resourceVersion', 'creationTimestamp'] as const

/** What a scale shows of the metadata of its object. */
export const scaleMetadata = ({ metadata = {} }: ApiObject): ObjectMeta =>
  Object.fromEntries(metadataNames.flatMap((name) => (metadata[name] === undefined ? [] : [[name, metadata[name]]])))

function read<T extends Scaled>(object: T, selectorOf: ScaleRules<T>['selectorOf']): Scale {
  const { spec, status } = object
  return {
    metadata: scaleMetadata(object),
    spec: { replicas: spec?.replicas ?? 0 },
    status: { replicas: status?.replicas ?? 0, selector: selectorOf(object) },
  }
}

const validate = ({ metadata = {}, spec }: Scale): readonly FieldError[] =>
  joined(
    validateObjectMeta(metadata, { namespaced: true, nameProblems: dnsSubdomainProblems }),
    checkNotNegative(spec?.replicas ?? 0, 'spec.replicas'),
  )

const columns: readonly Column[] = [
  textColumn('Name', 'Name of the workload.'),
  countColumn('Desired', 'How many pods there shall be.'),
  countColumn('Available', 'How many pods there are.'),
  ageColumn,
]

const cells = ({ metadata, spec, status }: Scale, now: number): readonly unknown[] => [
  metadata?.name ?? '',
  spec?.replicas ?? 0,
  status?.replicas ?? 0,
  ageOf(metadata?.creationTimestamp, now),
]

export const scaleSubresource = <T extends Scaled>(rules: ScaleRules<T>): SubresourceDefinition<T> => ({
  name: 'scale',
  verbs: ['get', 'patch', 'update'],
  view: {
    group: 'autoscaling',
    version: 'v1',
    kind: 'Scale',
    schema,
    read: (object) => read(object, rules.selectorOf),
    write: (view, object) => ({ ...object, spec: { ...object.spec, replicas: (view as Scale).spec?.replicas ?? 0 } }),
    validate: (view) => validate(view as Scale),
    table: { columns, cells: (view, { now }) => cells(view as Scale, now) },
  },
  prepareUpdate: rules.prepareUpdate,
  validateUpdate: rules.validateUpdate,
})
