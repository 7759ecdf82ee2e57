// Authorization of policy parameters: the server reads them with its own permissions, so writers of a ValidatingAdmissionPolicy or its binding must be
// authorized to read them.

import { invalid } from '../../api/api-error.js'
import type { Call } from '../../api/call.js'
import { forbidden } from '../../api/field-error.js'
import { mastersGroup, type User } from '../../api/user.js'
import { sameValueBut } from '../../api/validation/same-value.js'
import type { Decision } from '../../auth/authorize.js'
import type { Grant, GrantCheck } from '../../auth/rbac/grant-check.js'
import { compareText } from '../../base/text-order.js'
import type {
  ParamKind,
  ValidatingAdmissionPolicy,
  ValidatingAdmissionPolicyBinding,
} from '../../resources/admissionregistration/v1alpha1.schema.js'
import type { AskAccess, Right } from '../access.js'
import { ConfigurationError, type ParamSource, paramResource } from './params.js'

export interface ParamAccessSource extends ParamSource {
  readonly ask: AskAccess
}

interface Access {
  readonly field: string
  readonly right: Right
  /** Message of the field error, without the name of the user. */
  readonly refusal: string
}

/** Returns undefined if the write does not change which parameters are read. Call it with valid objects. */
export function paramAccessCheck(source: ParamAccessSource): GrantCheck {
  return (call, grant) => {
    const { kind, group } = call.resource
    const isPolicy = kind === 'ValidatingAdmissionPolicy'
    if ((!isPolicy && kind !== 'ValidatingAdmissionPolicyBinding') || group !== call.identity.group(policyGroup)) return undefined
    // Without request info the server itself writes.
    if (call.caller.info === undefined || call.user.groups.includes(mastersGroup)) return undefined
    const access = isPolicy ? kindAccess(source, grant) : refAccess(source, call, grant)
    return access && authorize(source, call, grant, access)
  }
}

const policyGroup = { stem: 'admissionregistration' }

/** Fields of a policy that neither choose parameters nor print them. */
const harmless = ['failurePolicy', 'matchConstraints']

/** The writer of a policy must be authorized to read every object of its paramKind. */
function kindAccess(source: ParamSource, { next, old }: Grant): Access | undefined {
  const { spec = {} } = next as ValidatingAdmissionPolicy
  const { paramKind } = spec
  const before = (old as ValidatingAdmissionPolicy | undefined)?.spec
  // Stricter than the reference, which looks at paramKind alone: new expressions could print the parameters of an existing binding.
  if (paramKind === undefined || (before !== undefined && sameValueBut(spec, before, harmless))) return undefined
  const { apiVersion = '', kind = '' } = paramKind
  return {
    field: 'spec.paramKind',
    right: { ...resourceRight(source, paramKind), namespace: '*', name: '*' },
    refusal: `must have "get" permission on all objects of the referenced paramKind (kind=${kind}, apiVersion=${apiVersion})`,
  }
}

/** The writer of a binding must be authorized to read the object of its paramRef. */
function refAccess(source: ParamSource, { resource, version }: Call, { next, old }: Grant): Access | undefined {
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
  const stored = policies && source.store.readOften({ resource: policies, namespace: '', name: policyName })
  const policy = policies && (stored?.decode(policies) as ValidatingAdmissionPolicy | undefined)
  return {
    field: 'spec.paramRef',
    right: { ...resourceRight(source, policy?.spec?.paramKind), namespace, name },
    refusal: 'does not have "get" permission on the object referenced by paramRef',
  }
}

/** Permission on all resources of the group and version if the kind is not served, and on everything if it is unknown. */
function resourceRight(source: ParamSource, paramKind: ParamKind | undefined): Right {
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

async function authorize({ ask }: ParamAccessSource, call: Call, { next }: Grant, { field, right, refusal }: Access): Promise<void> {
  const { verdict, error }: Decision = await ask(call.user, right)
  if (verdict === 'allow') return
  const detail = error ?? `user ${describeUser(call.user)} ${refusal}`
  throw invalid(call.resource.invalidSubject, next.metadata?.name ?? '', [forbidden(field, detail)])
}

/** As the reference prints users in this message. */
function describeUser({ name, uid, groups, extra }: User): string {
  const values = Object.keys(extra)
    .sort(compareText)
    .map((key) => `${key}:[${(extra[key] ?? []).join(' ')}]`)
  return `&{${name} ${uid} [${groups.join(' ')}] map[${values.join(' ')}]}`
}
