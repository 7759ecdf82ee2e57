// Scale subresource of a custom resource, at the JSON paths that its CRD names.

import { badRequest } from '../../../api/api-error.js'
import type { RuleContext, SubresourceDefinition } from '../../../api/definition/resource-definition.js'
import { type FieldError, invalid, quote } from '../../../api/field-error.js'
import type { ApiObject } from '../../../api/object.js'
import { joined, noErrors } from '../../../api/validation/checks.js'
import { shorten } from '../../../base/shorten.js'
import { isInt64 } from '../../../schema/json/pruning.js'
import { isRecord, setMember } from '../../../schema/json/read.js'
import { scaleMetadata } from '../../autoscaling/scale.js'
import { type Scale, scale as schema } from '../../autoscaling/v1.schema.js'
import type { CustomResourceSubresourceScale } from '../v1.schema.js'

const segmentsOf = (path: string): readonly string[] => path.split('.').filter((name) => name !== '')

const valueAt = (object: unknown, path: readonly string[]): unknown =>
  path.reduce<unknown>((value, name) => (isRecord(value) && Object.hasOwn(value, name) ? value[name] : undefined), object)

function withValueAt(object: unknown, [name, ...rest]: readonly string[], value: unknown): unknown {
  if (name === undefined) return value
  const members = isRecord(object) ? { ...object } : {}
  setMember(members, name, withValueAt(isRecord(object) && Object.hasOwn(object, name) ? object[name] : undefined, rest, value))
  return members
}

const numberAt = (object: unknown, path: string): number | undefined => {
  const value = valueAt(object, segmentsOf(path))
  return typeof value === 'number' ? value : undefined
}

const countAt = (object: unknown, path: string): number => numberAt(object, path) ?? 0

const isCount = (value: unknown): boolean => (typeof value === 'number' || typeof value === 'bigint') && isInt64(value)

const countProblem = (object: unknown, path: string): string | undefined => problemAt(object, path, 'int64', isCount)

const textProblem = (object: unknown, path: string): string | undefined =>
  path === '' ? undefined : problemAt(object, path, 'string', (value) => typeof value === 'string')

/** Reports a value that is not an object on the way to the member, or the member itself. */
function problemAt(object: unknown, path: string, expected: string, isExpected: (value: unknown) => boolean): string | undefined {
  const names = segmentsOf(path)
  let value: unknown = object
  for (const [i, name] of names.entries()) {
    if (value === null) return undefined
    if (!isRecord(value)) return accessProblem(`.${names.slice(0, i + 1).join('.')}`, value, 'object')
    if (!Object.hasOwn(value, name)) return undefined
    value = value[name]
  }
  return value === undefined || isExpected(value) ? undefined : accessProblem(path, value, expected)
}

const typeNames: { readonly [type: string]: string } = { string: 'string', number: 'float64', bigint: 'float64', boolean: 'bool' }

function accessProblem(path: string, value: unknown, expected: string): string {
  const actual =
    value === null ? 'null' : isCount(value) ? 'int64' : (typeNames[typeof value] ?? (Array.isArray(value) ? 'list' : 'object'))
  const shown = typeof value === 'object' && value !== null ? 'the value' : String(value)
  return `${path} accessor error: ${shorten(shown)} is of the type ${actual}, expected ${expected}`
}

const maxCount = 2 ** 31 - 1

function validateCount(object: ApiObject, path: string): readonly FieldError[] {
  const problem = countProblem(object, path)
  if (problem !== undefined) return [invalid(path, 0, problem)]
  const count = valueAt(object, segmentsOf(path)) as number | bigint | undefined
  if (count === undefined || (count >= 0 && count <= maxCount)) return noErrors
  return [invalid(path, count, count < 0 ? 'should be a non-negative integer' : `should be less than or equal to ${maxCount}`)]
}

/** Updates of the status subresource do not validate the replicas in the spec. */
export function validateScaled(object: ApiObject, paths: CustomResourceSubresourceScale, isStatusUpdate: boolean): readonly FieldError[] {
  const { specReplicasPath = '', statusReplicasPath = '', labelSelectorPath = '' } = paths
  const selectorProblem = textProblem(object, labelSelectorPath)
  return joined(
    isStatusUpdate ? noErrors : validateCount(object, specReplicasPath),
    validateCount(object, statusReplicasPath),
    selectorProblem === undefined ? noErrors : [invalid(labelSelectorPath, '', selectorProblem)],
  )
}

interface ScaleRules {
  readonly prepareUpdate: (next: ApiObject, old: ApiObject, context: RuleContext) => ApiObject
  readonly validateUpdate: (next: ApiObject, old: ApiObject, context: RuleContext) => readonly FieldError[]
}

export function customScale(paths: CustomResourceSubresourceScale, rules: ScaleRules): SubresourceDefinition {
  const { specReplicasPath = '', statusReplicasPath = '', labelSelectorPath = '' } = paths
  const selectorOf = (object: ApiObject): string => {
    const selector = labelSelectorPath === '' ? undefined : valueAt(object, segmentsOf(labelSelectorPath))
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
      replicasPath: segmentsOf(specReplicasPath).join('.'),
      read: (object): Scale => {
        const selector = selectorOf(object)
        const replicas = numberAt(object, specReplicasPath)
        return {
          metadata: scaleMetadata(object),
          spec: replicas === undefined ? {} : { replicas },
          status: { replicas: countAt(object, statusReplicasPath), ...(selector === '' ? {} : { selector }) },
        }
      },
      refusal: (object) =>
        problemOf(object) ??
        (numberAt(object, specReplicasPath) === undefined
          ? `the spec replicas field ${quote(specReplicasPath)} does not exist`
          : undefined),
      write: (view, object) => {
        const problem = problemOf(object)
        if (problem !== undefined) throw badRequest(problem)
        const replicas = (view as Scale).spec?.replicas
        // A Scale without replicas is accepted only if the object has replicas.
        if (replicas === undefined && numberAt(object, specReplicasPath) === undefined)
          throw badRequest(`the spec replicas field ${quote(specReplicasPath)} cannot be empty`)
        return withValueAt(object, segmentsOf(specReplicasPath), replicas ?? 0) as ApiObject
      },
    },
    prepareUpdate: rules.prepareUpdate,
    validateUpdate: rules.validateUpdate,
  }
}
