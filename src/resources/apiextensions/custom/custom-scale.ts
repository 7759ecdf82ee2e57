// The scale of a custom kind: where its numbers lie is said by paths in its definition.

import type { RuleContext, SubresourceDefinition } from '../../../api/definition.js'
import { type FieldError, invalid } from '../../../api/field-error.js'
import type { ApiObject } from '../../../api/object.js'
import { isRecord, setMember } from '../../../schema/read.js'
import { scaleMetadata } from '../../autoscaling/scale.js'
import { type Scale, scale as schema } from '../../autoscaling/v1.schema.js'
import type { CustomResourceSubresourceScale } from '../v1.schema.js'

const membersOf = (path: string): readonly string[] => path.split('.').filter((name) => name !== '')

const valueAt = (object: unknown, path: readonly string[]): unknown =>
  path.reduce<unknown>((value, name) => (isRecord(value) && Object.hasOwn(value, name) ? value[name] : undefined), object)

function withValueAt(object: unknown, [name, ...rest]: readonly string[], value: unknown): unknown {
  if (name === undefined) return value
  const members = isRecord(object) ? { ...object } : {}
  setMember(members, name, withValueAt(isRecord(object) && Object.hasOwn(object, name) ? object[name] : undefined, rest, value))
  return members
}

const countAt = (object: unknown, path: string): number => {
  const value = valueAt(object, membersOf(path))
  return typeof value === 'number' ? value : 0
}

export interface ScaleRules {
  readonly prepareUpdate: (next: ApiObject, old: ApiObject, context: RuleContext) => ApiObject
  readonly validateUpdate: (next: ApiObject, old: ApiObject, context: RuleContext) => readonly FieldError[]
}

export function customScale(paths: CustomResourceSubresourceScale, rules: ScaleRules): SubresourceDefinition {
  const { specReplicasPath = '', statusReplicasPath = '', labelSelectorPath = '' } = paths
  const selectorOf = (object: ApiObject): string => {
    const selector = labelSelectorPath === '' ? undefined : valueAt(object, membersOf(labelSelectorPath))
    return typeof selector === 'string' ? selector : ''
  }
  return {
    name: 'scale',
    verbs: ['get', 'patch', 'update'],
    view: {
      group: 'autoscaling',
      version: 'v1',
      kind: 'Scale',
      schema,
      read: (object): Scale => {
        const selector = selectorOf(object)
        return {
          metadata: scaleMetadata(object),
          spec: { replicas: countAt(object, specReplicasPath) },
          status: { replicas: countAt(object, statusReplicasPath), ...(selector === '' ? {} : { selector }) },
        }
      },
      write: (view, object) => withValueAt(object, membersOf(specReplicasPath), (view as Scale).spec?.replicas ?? 0) as ApiObject,
    },
    prepareUpdate: rules.prepareUpdate,
    validateUpdate: (next, old, context) => {
      const replicas = countAt(next, specReplicasPath)
      const errors = rules.validateUpdate(next, old, context)
      return replicas < 0 ? [invalid(specReplicasPath, replicas, 'should be a non-negative integer'), ...errors] : errors
    },
  }
}
