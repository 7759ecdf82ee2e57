// What a hook is sent: an AdmissionReview with everything about the request, in the version that the hook understands.

import type { Identity } from '../../api/identity.js'
import type { ApiObject } from '../../api/object.js'
import { typeOf } from '../../api/options/options-object.js'
import type { User } from '../../api/user.js'
import { onceFor } from '../../base/once-for.js'
import { type Promised, whenThere } from '../../base/promised.js'
import { writeAny, writeText } from '../../schema/write.js'
import type { AdmissionRequest } from '../admission.js'
import { type SeenAs, seenAsSent } from '../matching/seen-as.js'
import { seenText } from '../matching/seen-object.js'
import { namespaceOf } from '../matching/selectors.js'
import type { ReviewVersion } from './hook.js'

export const reviewKind = 'AdmissionReview'

const apiVersions = onceFor((identity: Identity) => {
  const group = identity.group({ stem: 'admission' })
  return { v1: `${group}/v1`, v1beta1: `${group}/v1beta1` } satisfies { readonly [version in ReviewVersion]: string }
})

export const reviewApiVersion = (identity: Identity, version: ReviewVersion): string => apiVersions(identity)[version]

export interface ReviewParts {
  readonly uid: string
  readonly version: ReviewVersion
  readonly as: SeenAs
}

export function reviewText(request: AdmissionRequest, { uid, version, as }: ReviewParts): Promised<string> {
  return whenThere(textOf(request, request.object, as), (object) =>
    whenThere(textOf(request, request.old, as), (old) => {
      const { identity } = request
      const head = `{"kind":"${reviewKind}","apiVersion":${writeText(reviewApiVersion(identity, version))},"request":{"uid":${writeText(uid)}`
      const objects = `"object":${object},"oldObject":${old},"dryRun":${request.dryRun},"options":${optionsText(request)}`
      return `${head},${placeText(request, as)},"userInfo":${userText(request.call.user)},${objects}}}`
    }),
  )
}

const textOf = (request: AdmissionRequest, object: ApiObject | undefined, as: SeenAs): Promised<string> =>
  object === undefined ? 'null' : seenText(request, object, as)

/** What the hook sees, and what was asked for. */
function placeText(request: AdmissionRequest, as: SeenAs): string {
  const sent = seenAsSent(request)
  const { subresource, name, operation } = request
  const namespace = namespaceOf(request)
  const part = subresource === '' ? '' : writeText(subresource)
  const own = `${kindText('kind', 'resource', as)}${part === '' ? '' : `,"subResource":${part}`}`
  const asked = `${kindText('requestKind', 'requestResource', sent)}${part === '' ? '' : `,"requestSubResource":${part}`}`
  const named = name === '' ? '' : `,"name":${writeText(name)}`
  return `${own},${asked}${named}${namespace === '' ? '' : `,"namespace":${writeText(namespace)}`},"operation":"${operation}"`
}

function kindText(ofKind: string, ofResource: string, as: SeenAs): string {
  const { kind, resource } = textsOf(as)
  return `"${ofKind}":${kind},"${ofResource}":${resource}`
}

const textsOf = onceFor(({ group, version, kind, resource }: SeenAs) => ({
  kind: writeAny({ group, version, kind }),
  resource: writeAny({ group: resource.group, version: resource.version, resource: resource.name }),
}))

const userText = onceFor(({ name, uid, groups, extra }: User) =>
  writeAny({
    ...(name === '' ? {} : { username: name }),
    ...(uid === '' ? {} : { uid }),
    ...(groups.length === 0 ? {} : { groups }),
    ...(Object.keys(extra).length === 0 ? {} : { extra }),
  }),
)

/** As the operation calls them, whichever verb they came with: a patch updates or creates. */
function optionsText({ operation, options, identity }: AdmissionRequest): string {
  if (operation === 'CONNECT') return 'null'
  const { kind: _kind, apiVersion: _apiVersion, force: _force, ...said } = options
  const kind = operation === 'CREATE' ? 'CreateOptions' : operation === 'UPDATE' ? 'UpdateOptions' : 'DeleteOptions'
  return writeAny({ ...typeOf(kind, identity), ...said })
}
