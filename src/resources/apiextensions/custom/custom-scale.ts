// The scale of a custom kind: where its numbers lie is said by paths in its definition.

import { badRequest } from '../../../api/api-error.js'
import type { RuleContext, SubresourceDefinition } from '../../../api/definition.js'
import { type FieldError, invalid, quote } from '../../../api/field-error.js'
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

const foundAt = (object: unknown, path: string): number | undefined => {
  const value = valueAt(object, membersOf(path))
  return typeof value === 'number' ? value : undefined
}

const countAt = (object: unknown, path: string): number => foundAt(object, path) ?? 0

/** Why it is no count; undefined: it is one, or nothing is there. */
function countProblem(object: unknown, path: string): string | undefined {
  const value = valueAt(object, membersOf(path))
  return value === undefined || Number.isInteger(value) ? undefined : `${path} accessor error: a whole number is expected`
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
  const problemOf = (object: ApiObject): string | undefined => {
    const problem = countProblem(object, specReplicasPath) ?? countProblem(object, statusReplicasPath)
    if (problem !== undefined || labelSelectorPath === '') return problem
    const selector = valueAt(object, membersOf(labelSelectorPath))
    return selector === undefined || typeof selector === 'string' ? undefined : `${labelSelectorPath} accessor error: a text is expected`
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
        const replicas = foundAt(object, specReplicasPath)
        return {
          metadata: scaleMetadata(object),
          spec: replicas === undefined ? {} : { replicas },
          status: { replicas: countAt(object, statusReplicasPath), ...(selector === '' ? {} : { selector }) },
        }
      },
      refusal: (object) =>
        problemOf(object) ??
        (foundAt(object, specReplicasPath) === undefined ? `the spec replicas field ${quote(specReplicasPath)} does not exist` : undefined),
      write: (view, object) => {
        const problem = problemOf(object)
        if (problem !== undefined) throw badRequest(problem)
        const replicas = (view as Scale).spec?.replicas
        // Whoever says nothing where nothing is has not said how many there shall be.
        if (replicas === undefined && foundAt(object, specReplicasPath) === undefined)
          throw badRequest(`the spec replicas field ${quote(specReplicasPath)} cannot be empty`)
        return withValueAt(object, membersOf(specReplicasPath), replicas ?? 0) as ApiObject
      },
    },
    prepareUpdate: rules.prepareUpdate,
    validateUpdate: (next, old, context) => {
      const replicas = countAt(next, specReplicasPath)
      const errors = rules.validateUpdate(next, old, context)
      return replicas < 0 ? [invalid(specReplicasPath, replicas, 'should be a non-negative integer'), ...errors] : errors
    },
  }
}
