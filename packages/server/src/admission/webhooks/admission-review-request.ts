// AdmissionReview request: the JSON sent to a webhook, in a version that the webhook supports.

import type { Identity } from '@cluster-apiserver/api/api/identity.js'
import type { ApiObject } from '@cluster-apiserver/api/api/object.js'
import { typeMetaOf } from '@cluster-apiserver/api/api/options/options-object.js'
import type { User } from '@cluster-apiserver/api/api/user.js'
import { weakMemoize } from '@cluster-apiserver/api/base/recent-map.js'
import { writeAny, writeText } from '@cluster-apiserver/api/schema/json/write.js'
import type { AdmissionRequest } from '../admission-plugin.js'
import { namespaceOf } from '../matching/match-request.js'
import { type MatchedKind, requestedKind, versionedJson } from '../matching/versioned-object.js'
import type { ReviewVersion } from './webhook.js'

export const reviewKind = 'AdmissionReview'

const apiVersions = weakMemoize((identity: Identity) => {
  const group = identity.group({ stem: 'admission' })
  return { v1: `${group}/v1`, v1beta1: `${group}/v1beta1` } satisfies { readonly [version in ReviewVersion]: string }
})

export const reviewApiVersion = (identity: Identity, version: ReviewVersion): string => apiVersions(identity)[version]

interface ReviewParts {
  readonly uid: string
  readonly version: ReviewVersion
  readonly matched: MatchedKind
}

export async function reviewText(request: AdmissionRequest, { uid, version, matched }: ReviewParts): Promise<string> {
  const object = await textOf(request, request.object, matched)
  const old = await textOf(request, request.old, matched)
  const head = `{"kind":"${reviewKind}","apiVersion":${writeText(reviewApiVersion(request.identity, version))},"request":{"uid":${writeText(uid)}`
  const objects = `"object":${object},"oldObject":${old},"dryRun":${request.dryRun},"options":${optionsText(request)}`
  return `${head},${requestText(request, matched)},"userInfo":${userText(request.call.user)},${objects}}}`
}

const textOf = async (request: AdmissionRequest, object: ApiObject | undefined, matched: MatchedKind): Promise<string> =>
  object === undefined ? 'null' : versionedJson(request, object, matched)

function requestText(request: AdmissionRequest, matched: MatchedKind): string {
  const requested = requestedKind(request)
  const { subresource, name, operation } = request
  const namespace = namespaceOf(request)
  const subResource = subresource === '' ? '' : writeText(subresource)
  const matchedFields = `${kindText('kind', 'resource', matched)}${subResource === '' ? '' : `,"subResource":${subResource}`}`
  const requestedFields = `${kindText('requestKind', 'requestResource', requested)}${subResource === '' ? '' : `,"requestSubResource":${subResource}`}`
  const nameField = name === '' ? '' : `,"name":${writeText(name)}`
  return `${matchedFields},${requestedFields}${nameField}${namespace === '' ? '' : `,"namespace":${writeText(namespace)}`},"operation":"${operation}"`
}

function kindText(kindField: string, resourceField: string, matched: MatchedKind): string {
  const { kind, resource } = kindAndResourceJson(matched)
  return `"${kindField}":${kind},"${resourceField}":${resource}`
}

const kindAndResourceJson = weakMemoize(({ group, version, kind, resource }: MatchedKind) => ({
  kind: writeAny({ group, version, kind }),
  resource: writeAny({ group: resource.group, version: resource.version, resource: resource.name }),
}))

const userText = weakMemoize(({ name, uid, groups, extra }: User) =>
  writeAny({
    ...(name === '' ? {} : { username: name }),
    ...(uid === '' ? {} : { uid }),
    ...(groups.length === 0 ? {} : { groups }),
    ...(Object.keys(extra).length === 0 ? {} : { extra }),
  }),
)

function optionsText({ operation, options, identity }: AdmissionRequest): string {
  if (operation === 'CONNECT') return 'null'
  const { kind: _kind, apiVersion: _apiVersion, force: _force, ...fields } = options
  const kind = operation === 'CREATE' ? 'CreateOptions' : operation === 'UPDATE' ? 'UpdateOptions' : 'DeleteOptions'
  return writeAny({ ...typeMetaOf(kind, identity), ...fields })
}
