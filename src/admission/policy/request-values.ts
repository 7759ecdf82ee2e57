// What expressions of a policy see of a request: its objects in the version that the policy is about, and who asks for what.

import type { ApiObject } from '../../api/object.js'
import { getOrInsert } from '../../base/get-or-insert.js'
import { type Promised, whenThere } from '../../base/promised.js'
import { valueOfJson } from '../../cel/data.js'
import type { Value } from '../../cel/values.js'
import { parseWrittenJson } from '../../codec/json.js'
import { writeValue } from '../../schema/write.js'
import type { AdmissionRequest } from '../admission.js'
import { type SeenAs, seenAsSent } from '../matching/seen-as.js'
import { seenObject, seenText } from '../matching/seen-object.js'

/** Made when they are first wanted, and once for all policies. */
export class RequestValues {
  readonly #request: AdmissionRequest
  readonly #objects = new Map<SeenAs, Promised<Value>>()
  readonly #olds = new Map<SeenAs, Promised<Value>>()
  #asked: Value | undefined

  constructor(request: AdmissionRequest) {
    this.#request = request
  }

  object(as: SeenAs): Promised<Value> {
    return getOrInsert(this.#objects, as, () => objectValue(this.#request, this.#request.object, as))
  }

  old(as: SeenAs): Promised<Value> {
    return getOrInsert(this.#olds, as, () => objectValue(this.#request, this.#request.old, as))
  }

  /** Who asks for what. */
  get asked(): Value {
    this.#asked ??= requestValue(this.#request)
    return this.#asked
  }
}

/** Null where there is none. An object is shown as a client would be answered: with what its kind always writes. */
function objectValue(request: AdmissionRequest, object: ApiObject | undefined, as: SeenAs): Promised<Value> {
  if (object === undefined) return null
  const { isStored, resource, schema } = as
  if (schema === undefined || !isStored || resource.definition.custom === undefined)
    return whenThere(seenText(request, object, as), (text) => valueOfJson(parseWrittenJson(text)))
  // But for their metadata, custom objects are what they are: none is written only to be read again.
  return whenThere(seenObject(request, object, as), (own) =>
    valueOfJson({ ...own, metadata: parseWrittenJson(writeValue(schema.fields['metadata']?.node ?? schema, own.metadata ?? {})) }),
  )
}

/** `request`. What is empty and may be left out is absent. */
function requestValue(request: AdmissionRequest): Value {
  const { call, operation, resource, subresource, name, namespace, dryRun } = request
  const { name: username, uid, groups, extra } = call.user
  const { group, version, kind } = seenAsSent(request)
  const ofKind = { group, version, kind }
  const ofResource = { group: resource.group, version: resource.version, resource: resource.name }
  return valueOfJson({
    uid: '',
    kind: ofKind,
    resource: ofResource,
    ...(subresource === '' ? {} : { subResource: subresource }),
    requestKind: ofKind,
    requestResource: ofResource,
    ...(subresource === '' ? {} : { requestSubResource: subresource }),
    ...(name === '' ? {} : { name }),
    ...(namespace === '' ? {} : { namespace }),
    operation,
    userInfo: {
      ...(username === '' ? {} : { username }),
      ...(uid === '' ? {} : { uid }),
      ...(groups.length === 0 ? {} : { groups }),
      ...(Object.keys(extra).length === 0 ? {} : { extra }),
    },
    object: null,
    oldObject: null,
    dryRun,
    options: optionsOf(request),
  })
}

const kinds = { CREATE: 'CreateOptions', UPDATE: 'UpdateOptions', DELETE: 'DeleteOptions' } as const

/** A patch is an update here, and says no more than one can. A connection has no options but its object. */
function optionsOf({ operation, options }: AdmissionRequest): unknown {
  if (operation === 'CONNECT') return null
  if (options.kind !== 'PatchOptions') return options
  const { force: _force, ...more } = options
  return { ...more, kind: kinds[operation] }
}
