// What expressions of admission policies see: the object, the one before, the request and parameters.

import type { Environment } from './check.js'
import { CelCompileError, compileExpression, type Program } from './compile.js'
import { boolType, dynType, listOf, mapOf, objectNamed, stringType, type Type } from './types.js'

const kind: { readonly [field: string]: Type } = { group: stringType, version: stringType, kind: stringType }
const resource: { readonly [field: string]: Type } = { group: stringType, version: stringType, resource: stringType }

const objects: { readonly [name: string]: { readonly [field: string]: Type } } = {
  'kubernetes.AdmissionRequest': {
    kind: objectNamed('kubernetes.GroupVersionKind'),
    resource: objectNamed('kubernetes.GroupVersionResource'),
    subResource: stringType,
    requestKind: objectNamed('kubernetes.GroupVersionKind'),
    requestResource: objectNamed('kubernetes.GroupVersionResource'),
    requestSubResource: stringType,
    name: stringType,
    namespace: stringType,
    operation: stringType,
    userInfo: objectNamed('kubernetes.UserInfo'),
    dryRun: boolType,
    options: dynType,
  },
  'kubernetes.GroupVersionKind': kind,
  'kubernetes.GroupVersionResource': resource,
  'kubernetes.UserInfo': {
    username: stringType,
    uid: stringType,
    groups: listOf(stringType),
    extra: mapOf(stringType, listOf(stringType)),
  },
}

const variables = { object: dynType, oldObject: dynType, request: objectNamed('kubernetes.AdmissionRequest') }

const environmentWith = (names: Environment['variables']): Environment => ({
  variables: names,
  fieldType: (object, field) => {
    const fields = Object.hasOwn(objects, object) ? objects[object] : undefined
    return fields !== undefined && Object.hasOwn(fields, field) ? fields[field] : undefined
  },
  hasObject: (name) => Object.hasOwn(objects, name),
})

const plain = environmentWith(variables)
const withParams = environmentWith({ ...variables, params: dynType })

/** `params` can be named only where a policy has a kind for it. */
export const policyEnvironment = (hasParams: boolean): Environment => (hasParams ? withParams : plain)

/** Throws {@link CelCompileError}. */
export function compilePolicyExpression(text: string, hasParams: boolean): Program {
  const program = compileExpression(text, policyEnvironment(hasParams))
  if (program.type.kind !== 'bool') throw new CelCompileError('cel expression must evaluate to a bool')
  return program
}
