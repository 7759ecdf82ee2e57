// serviceaccounts/token: issues a service account token, bound to a Pod or Secret if requested.

import { badRequest, conflict, invalid, notFound } from '@cluster-apiserver/api/api/api-error.js'
import type { Call } from '@cluster-apiserver/api/api/call.js'
import type { Catalog } from '@cluster-apiserver/api/api/catalog/catalog.js'
import { invalid as invalidField } from '@cluster-apiserver/api/api/field-error.js'
import { type ApiObject, withMetadata } from '@cluster-apiserver/api/api/object.js'
import { validateTokenRequest } from '@cluster-apiserver/api/resources/authentication/token-review.js'
import type { BoundObjectReference, TokenRequest } from '@cluster-apiserver/api/resources/authentication/v1.schema.js'
import { timeOf } from '@cluster-apiserver/api/schema/scalars.js'
import type { Reference } from '../../auth/service-account/service-account-claims.js'
import { addressOf, type Engine } from '../engine.js'
import type { ActionRequest } from './virtual-resource-types.js'

interface Pod extends ApiObject {
  readonly spec?: { readonly serviceAccountName?: string }
}

/** Lifetime that the kubelet requests for mounted tokens. Extended for a Pod, because older programs do not reload their token. */
const extendableSeconds = 3607
const extendedSeconds = 365 * 24 * 3600

export async function issueToken(engine: Engine, call: Call, { body, catalog, validate }: ActionRequest): Promise<ApiObject> {
  const { issuer } = engine
  if (issuer === undefined) throw new Error('this server has no key to sign tokens with')
  checkName(call, body)
  const stored = engine.store.read(addressOf(call))
  if (stored === undefined) throw notFound(call.resource.subject, call.name)
  const account = referenceOf(call.name, stored.decode(call.resource))
  const request = complete(call, body as TokenRequest, issuer.options.audiences)
  const errors = validateTokenRequest(request)
  if (errors.length > 0) throw invalid(kindOf(call), '', errors)
  await validate()
  const { audiences = [], expirationSeconds: requestedSeconds = 0, boundObjectRef } = request.spec ?? {}
  const bound = boundObjectRef == null ? {} : findBound(engine, call, { catalog, wanted: boundObjectRef })
  const { maxSeconds, shouldExtendExpiration: isExtending, audiences: serverAudiences } = issuer.options
  const isTooLong = maxSeconds > 0 && requestedSeconds > maxSeconds
  if (isTooLong) call.warn(`requested expiration of ${requestedSeconds} seconds shortened to ${maxSeconds} seconds`)
  const seconds = isTooLong ? maxSeconds : requestedSeconds
  const isExtended =
    isExtending &&
    bound.pod !== undefined &&
    seconds === extendableSeconds &&
    audiences.every((audience) => serverAudiences.includes(audience))
  const token = await issuer.issue({
    audiences,
    account: { namespace: call.namespace, serviceaccount: account, ...bound },
    now: call.now,
    seconds: isExtended ? extendedSeconds : seconds,
    ...(isExtended ? { warnAfterSeconds: seconds } : {}),
  })
  return {
    ...request,
    spec: { ...request.spec, expirationSeconds: seconds },
    status: { token, expirationTimestamp: timeOf(call.now + seconds * 1000) },
  } as ApiObject
}

const kindOf = ({ identity }: Call) => ({ group: identity.group({ stem: 'authentication' }), kind: 'TokenRequest' })

function checkName(call: Call, { metadata }: ApiObject): void {
  const { name = '' } = metadata ?? {}
  if (name === '' || name === call.name) return
  throw invalid(kindOf(call), call.name, [invalidField('metadata.name', name, 'must match the service account name if specified')])
}

function complete(call: Call, body: TokenRequest, audiences: readonly string[]): TokenRequest {
  const { status: _, ...sent } = body
  const placed = withMetadata(sent as ApiObject, { name: call.name, namespace: call.namespace, creationTimestamp: timeOf(call.now) })
  return { ...placed, spec: { ...sent.spec, audiences: sent.spec?.audiences?.length ? sent.spec.audiences : audiences } } as TokenRequest
}

const referenceOf = (name: string, { metadata }: ApiObject): Reference => ({ name, uid: metadata?.uid ?? '' })

function findBound(
  engine: Engine,
  call: Call,
  { catalog, wanted }: { readonly catalog: Catalog; readonly wanted: BoundObjectReference },
): { readonly pod?: Reference; readonly secret?: Reference } {
  const { apiVersion = '', kind = '', name = '', uid = '' } = wanted
  const slash = apiVersion.indexOf('/')
  const group = slash < 0 ? '' : apiVersion.slice(0, slash)
  const resource = group !== '' ? undefined : catalog.find('', 'v1', kind === 'Pod' ? 'pods' : kind === 'Secret' ? 'secrets' : '')
  if (resource === undefined) {
    throw badRequest(`cannot bind token to object of type ${group}/${apiVersion.slice(slash + 1)}, Kind=${kind}`)
  }
  if (name === '') throw badRequest('Name parameter required.')
  const stored = engine.store.read({ resource, namespace: call.namespace, name })
  if (stored === undefined) throw notFound(resource.subject, name)
  const object = stored.decode(resource)
  if (kind === 'Pod' && (object as Pod).spec?.serviceAccountName !== call.name) {
    throw badRequest(`cannot bind token for serviceaccount ${JSON.stringify(call.name)} to pod running with different serviceaccount name.`)
  }
  const found = referenceOf(name, object)
  if (uid !== '' && uid !== found.uid) {
    const message = `the UID in the bound object reference (${uid}) does not match the UID in record. The object might have been deleted and then recreated`
    throw conflict({ group: '', resource: kind, kind }, name, message)
  }
  return kind === 'Pod' ? { pod: found } : { secret: found }
}
