// Authorization of policy parameters: the server reads parameters with its own permissions, so writers of policies and bindings need
// permission to read the parameters.

import { invalid } from '@cluster-apiserver/api/api/api-error.js'
import type { Call } from '@cluster-apiserver/api/api/call.js'
import { forbidden } from '@cluster-apiserver/api/api/field-error.js'
import type { User } from '@cluster-apiserver/api/api/user.js'
import { sameValueBut } from '@cluster-apiserver/api/api/validation/same-value.js'
import { compareText } from '@cluster-apiserver/api/base/text-order.js'
import type {
  ParamKind,
  ValidatingAdmissionPolicy,
  ValidatingAdmissionPolicyBinding,
} from '@cluster-apiserver/api/resources/admissionregistration/v1alpha1.schema.js'
import type { Decision } from '../../auth/authorize.js'
import { checkKinds, type EscalationCheck, type GuardedWrite } from '../../auth/rbac/escalation-check.js'
import type { CheckPermission, Permission } from '../lookup.js'
import { ConfigurationError, type ParamSource, paramResource } from './policy-variables.js'

interface ParamAccessSource extends ParamSource {
  readonly checkPermission: CheckPermission
}

interface RequiredAccess {
  readonly field: string
  readonly permission: Permission
  readonly problem: string
}

export function paramAccessCheck(source: ParamAccessSource): EscalationCheck {
  return checkKinds(policyGroup, ['ValidatingAdmissionPolicy', 'ValidatingAdmissionPolicyBinding'], async (call, write) => {
    const isPolicy = call.resource.kind === 'ValidatingAdmissionPolicy'
    const access = isPolicy ? paramKindAccess(source, write) : paramRefAccess(source, call, write)
    if (access !== undefined) await authorize(source, call, write, access)
  })
}

const policyGroup = { stem: 'admissionregistration' }

/** Fields of a policy that neither choose parameters nor print them. */
const fieldsWithoutParams = ['failurePolicy', 'matchConstraints']

function paramKindAccess(source: ParamSource, { next, old }: GuardedWrite): RequiredAccess | undefined {
  const { spec = {} } = next as ValidatingAdmissionPolicy
  const { paramKind } = spec
  const before = (old as ValidatingAdmissionPolicy | undefined)?.spec
  // Stricter than kube-apiserver, which looks at paramKind alone: new expressions could print the parameters of an existing binding.
  if (paramKind === undefined || (before !== undefined && sameValueBut(spec, before, fieldsWithoutParams))) return undefined
  const { apiVersion = '', kind = '' } = paramKind
  return {
    field: 'spec.paramKind',
    permission: { ...resourcePermission(source, paramKind), namespace: '*', name: '*' },
    problem: `must have "get" permission on all objects of the referenced paramKind (kind=${kind}, apiVersion=${apiVersion})`,
  }
}

function paramRefAccess(source: ParamSource, { resource, version }: Call, { next, old }: GuardedWrite): RequiredAccess | undefined {
  const { paramRef, policyName = '' } = (next as ValidatingAdmissionPolicyBinding).spec ?? {}
  const before = (old as ValidatingAdmissionPolicyBinding | undefined)?.spec
  if (paramRef === undefined) return undefined
  const { name = '', namespace = '' } = paramRef
  const isSame =
    before?.paramRef !== undefined &&
    (before.paramRef.name ?? '') === name &&
    (before.paramRef.namespace ?? '') === namespace &&
    (before.policyName ?? '') === policyName
  if (isSame) return undefined
  const policies = source.catalogs.current.find(resource.group, version, 'validatingadmissionpolicies')
  const stored = policies && source.store.readCached({ resource: policies, namespace: '', name: policyName })
  const policy = policies && (stored?.decode(policies) as ValidatingAdmissionPolicy | undefined)
  return {
    field: 'spec.paramRef',
    permission: { ...resourcePermission(source, policy?.spec?.paramKind), namespace, name },
    problem: 'does not have "get" permission on the object referenced by paramRef',
  }
}

/** Permission on all resources of the group and version if the kind is not served, and on everything if paramKind is unknown. */
function resourcePermission(source: ParamSource, paramKind: ParamKind | undefined): Permission {
  if (paramKind === undefined) return { verb: 'get', group: '*', version: '*', resource: '*' }
  try {
    const { group, version, name } = paramResource(paramKind, source)
    return { verb: 'get', group, version, resource: name }
  } catch (thrown) {
    if (!(thrown instanceof ConfigurationError)) throw thrown
    const [version = '', group = ''] = (paramKind.apiVersion ?? '').split('/').reverse()
    return { verb: 'get', group, version, resource: '*' }
  }
}

async function authorize(
  { checkPermission }: ParamAccessSource,
  call: Call,
  { next }: GuardedWrite,
  { field, permission, problem }: RequiredAccess,
): Promise<void> {
  const { verdict, error }: Decision = await checkPermission(call.user, permission)
  if (verdict === 'allow') return
  const detail = error ?? `user ${describeUser(call.user)} ${problem}`
  throw invalid(call.resource.invalidSubject, next.metadata?.name ?? '', [forbidden(field, detail)])
}

function describeUser({ name, uid, groups, extra }: User): string {
  const values = Object.keys(extra)
    .sort(compareText)
    .map((key) => `${key}:[${(extra[key] ?? []).join(' ')}]`)
  return `&{${name} ${uid} [${groups.join(' ')}] map[${values.join(' ')}]}`
}
