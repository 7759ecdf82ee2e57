// CEL environment of ValidatingAdmissionPolicy: `object`, `oldObject`, `request` and `params`.

import { CelCompileError, compileExpression, type Program } from './compile.js'
import type { Environment } from './types/type-check.js'
import { boolType, dynType, listOf, mapOf, objectNamed, stringType, type Type } from './types/types.js'

const groupVersionKind: { readonly [field: string]: Type } = { group: stringType, version: stringType, kind: stringType }
const groupVersionResource: { readonly [field: string]: Type } = { group: stringType, version: stringType, resource: stringType }

const objectTypes: { readonly [name: string]: { readonly [field: string]: Type } } = {
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
  'kubernetes.GroupVersionKind': groupVersionKind,
  'kubernetes.GroupVersionResource': groupVersionResource,
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
    const fields = Object.hasOwn(objectTypes, object) ? objectTypes[object] : undefined
    return fields !== undefined && Object.hasOwn(fields, field) ? fields[field] : undefined
  },
  hasObject: (name) => Object.hasOwn(objectTypes, name),
})

const withoutParams = environmentWith(variables)
const withParams = environmentWith({ ...variables, params: dynType })

export const policyEnvironment = (hasParams: boolean): Environment => (hasParams ? withParams : withoutParams)

/** Throws {@link CelCompileError}. */
export function compilePolicyExpression(text: string, hasParams: boolean): Program {
  const program = compileExpression(text, policyEnvironment(hasParams))
  if (program.type.kind !== 'bool') throw new CelCompileError('cel expression must evaluate to a bool')
  return program
}
