// The scale of a custom kind: where its numbers lie is said by paths in its definition.

import { badRequest } from '../../../api/api-error.js'
import type { RuleContext, SubresourceDefinition } from '../../../api/definition.js'
import { type FieldError, invalid, quote } from '../../../api/field-error.js'
import type { ApiObject } from '../../../api/object.js'
import { joined } from '../../../api/validation/collect.js'
import { noErrors } from '../../../api/validation/fields.js'
import { shorten } from '../../../base/shorten.js'
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
  return value === undefined || Number.isInteger(value) || typeof value === 'bigint' ? undefined : accessProblem(path, value, 'int64')
}

function textProblem(object: unknown, path: string): string | undefined {
  const value = path === '' ? undefined : valueAt(object, membersOf(path))
  return value === undefined || typeof value === 'string' ? undefined : accessProblem(path, value, 'string')
}

const typeNames: { readonly [type: string]: string } = { string: 'string', number: 'float64', boolean: 'bool' }

function accessProblem(path: string, value: unknown, expected: string): string {
  const found =
    value === null ? 'null' : Number.isInteger(value) ? 'int64' : (typeNames[typeof value] ?? (Array.isArray(value) ? 'list' : 'object'))
  const shown = typeof value === 'object' && value !== null ? 'the value' : String(value)
  return `${path} accessor error: ${shorten(shown)} is of the type ${found}, expected ${expected}`
}

const maxCount = 2 ** 31 - 1

function validateCount(object: ApiObject, path: string): readonly FieldError[] {
  const problem = countProblem(object, path)
  if (problem !== undefined) return [invalid(path, 0, problem)]
  const count = valueAt(object, membersOf(path)) as number | bigint | undefined
  if (count === undefined || (count >= 0 && count <= maxCount)) return noErrors
  return [invalid(path, count, count < 0 ? 'should be a non-negative integer' : `should be less than or equal to ${maxCount}`)]
}

/** What an object with a scale says of its size is a size, however it is written; who writes the status answers for the status alone. */
export function validateScaled(object: ApiObject, paths: CustomResourceSubresourceScale, ofStatus: boolean): readonly FieldError[] {
  const { specReplicasPath = '', statusReplicasPath = '', labelSelectorPath = '' } = paths
  const selectorProblem = textProblem(object, labelSelectorPath)
  return joined(
    ofStatus ? noErrors : validateCount(object, specReplicasPath),
    validateCount(object, statusReplicasPath),
    selectorProblem === undefined ? noErrors : [invalid(labelSelectorPath, '', selectorProblem)],
  )
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
  const problemOf = (object: ApiObject): string | undefined =>
    countProblem(object, specReplicasPath) ?? countProblem(object, statusReplicasPath) ?? textProblem(object, labelSelectorPath)
  return {
    name: 'scale',
    verbs: ['get', 'patch', 'update'],
    view: {
      group: 'autoscaling',
      version: 'v1',
      kind: 'Scale',
      schema,
      replicasPath: membersOf(specReplicasPath).join('.'),
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
    validateUpdate: rules.validateUpdate,
  }
}
