// The variable `request` of policy expressions: an AdmissionRequest without its objects.

import type { User } from '../../../api/user.js'
import { valueOfJson } from '../../../cel/values/json-values.js'
import type { Value } from '../../../cel/values/values.js'
import type { Operation } from './match-rules.js'

export interface RequestAttributes {
  readonly operation: Operation
  readonly kind: { readonly group: string; readonly version: string; readonly kind: string }
  readonly resource: { readonly group: string; readonly version: string; readonly name: string }
  /** Empty for the object itself. */
  readonly subresource: string
  readonly name: string
  readonly namespace: string
  readonly user: User
  readonly dryRun: boolean
  readonly options: { readonly kind?: string; readonly apiVersion?: string; readonly force?: unknown }
}

/** Empty optional fields are absent. */
export function requestVariable({
  operation,
  kind,
  resource,
  subresource,
  name,
  namespace,
  user,
  dryRun,
  options,
}: RequestAttributes): Value {
  const { name: username, uid, groups, extra } = user
  const kindValue = { group: kind.group, version: kind.version, kind: kind.kind }
  const resourceValue = { group: resource.group, version: resource.version, resource: resource.name }
  return valueOfJson({
    uid: '',
    kind: kindValue,
    resource: resourceValue,
    ...(subresource === '' ? {} : { subResource: subresource }),
    requestKind: kindValue,
    requestResource: resourceValue,
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
    options: optionsOf(operation, options),
  })
}

const optionKinds = { CREATE: 'CreateOptions', UPDATE: 'UpdateOptions', DELETE: 'DeleteOptions' } as const

/** A patch has CreateOptions or UpdateOptions, without `force`. CONNECT has no options besides its object. */
function optionsOf(operation: Operation, options: RequestAttributes['options']): unknown {
  if (operation === 'CONNECT') return null
  if (options.kind !== 'PatchOptions') return options
  const { force: _force, ...more } = options
  return { ...more, kind: optionKinds[operation] }
}
