// Writes and events of one workload controller: through the verbs, as the user of that controller.

import type { CallOptions } from '@cluster-apiserver/api/api/call.js'
import type { Resource } from '@cluster-apiserver/api/api/catalog/resource.js'
import type { ApiObject } from '@cluster-apiserver/api/api/object.js'
import { authenticatedGroup } from '@cluster-apiserver/api/api/user.js'
import type { TurnBudget } from '@cluster-apiserver/api/base/turn-budget.js'
import { accountGroups, accountName } from '../../../auth/service-account/service-account-claims.js'
import { create } from '../../../verbs/create.js'
import { remove } from '../../../verbs/delete.js'
import type { WrittenObject } from '../../../verbs/engine.js'
import { patch } from '../../../verbs/patch.js'
import { update } from '../../../verbs/update.js'
import { withDefaults } from '../../../verbs/version-conversion.js'
import { performAction } from '../../../verbs/virtual/virtual-requests.js'
import type { Action } from '../../../verbs/virtual/virtual-resource-types.js'
import { type InternalUser, internalCall } from '../../framework/internal-call.js'
import { recordEvent } from '../../framework/record-event.js'
import { budgetOf } from '../../framework/timers.js'
import type { WorkloadParts } from './workload-parts.js'

export interface WorkloadEvent {
  readonly type: 'Normal' | 'Warning'
  readonly reason: string
  readonly message: string
}

interface PatchRequest {
  /** `strategic` merges lists by their merge key, such as ownerReferences by uid. */
  readonly type: 'merge' | 'strategic'
  readonly patch: object
  readonly subresource?: string
}

interface ActionCall {
  readonly subresource: string
  readonly action: Action
  readonly body: ApiObject
}

export class Writer {
  readonly #parts: WorkloadParts
  readonly #as: InternalUser
  readonly #component: string
  /** Writes of one transaction resume in the same event-loop iteration; the budget spreads the work after them. */
  readonly #budget: TurnBudget

  /** `account`: the user, or the name of the controller's ServiceAccount; `component`: source of its events; `userAgent`: its field manager. */
  constructor(
    parts: WorkloadParts,
    account: string | InternalUser,
    component = typeof account === 'string' ? account : account.user.name,
    userAgent?: string,
  ) {
    const as = typeof account === 'string' ? accountUser(parts, account) : account
    this.#parts = parts
    this.#component = component
    this.#budget = budgetOf(parts.pacing ?? parts.timers)
    this.#as = userAgent === undefined ? as : { ...as, userAgent }
  }

  /** POST to a subresource such as `binding`. */
  async act(resource: Resource, object: ApiObject, { subresource, action, body }: ActionCall): Promise<void> {
    await this.#budget.takeSlot()
    const { engine, catalogs } = this.#parts
    await performAction(engine, this.#callOn(resource, object, subresource), { action, body, catalog: catalogs.current })
  }

  /** `object` has a name or generateName. */
  async create<T extends ApiObject>(resource: Resource, object: T): Promise<T> {
    await this.#budget.takeSlot()
    const { engine } = this.#parts
    const call = this.#callOn(resource, object)
    const { result } = await create(engine, call, { object: withDefaults(call, object) })
    await this.#budget.takeSlot()
    return objectOf<T>(resource, result)
  }

  /** PUT: fails with a conflict if the stored object has another resourceVersion than this one. */
  async update<T extends ApiObject>(resource: Resource, object: T, subresource?: string): Promise<T> {
    await this.#budget.takeSlot()
    const { engine } = this.#parts
    const { result } = await update(engine, this.#callOn(resource, object, subresource), { object })
    await this.#budget.takeSlot()
    return objectOf<T>(resource, result)
  }

  /** Patches the object with the uid of `object`. */
  async patch<T extends ApiObject>(resource: Resource, object: T, { type, patch: body, subresource }: PatchRequest): Promise<T> {
    await this.#budget.takeSlot()
    const { engine } = this.#parts
    const { metadata, ...rest } = body as ApiObject
    const withUid = { ...rest, metadata: { ...metadata, uid: object.metadata?.uid } }
    const { result } = await patch(engine, this.#callOn(resource, object, subresource), { type, patch: withUid, duplicates: [] })
    await this.#budget.takeSlot()
    return objectOf<T>(resource, result)
  }

  /** Deletes the object with this uid. */
  async delete(resource: Resource, object: ApiObject, options: CallOptions = {}): Promise<void> {
    await this.#budget.takeSlot()
    const { engine } = this.#parts
    const { uid } = object.metadata ?? {}
    await remove(
      engine,
      this.#callOn(resource, object, undefined, { ...options, ...(uid === undefined ? {} : { preconditions: { uid } }) }),
    )
  }

  /** Never rejects. `resource`: that of the involved object. */
  async event({ apiVersion, kind }: Pick<Resource, 'apiVersion' | 'kind'>, { metadata }: ApiObject, event: WorkloadEvent): Promise<void> {
    await this.#budget.takeSlot()
    const { namespace = '', name = '', uid = '' } = metadata ?? {}
    await recordEvent(this.#parts, { apiVersion, kind, namespace, name, uid }, { ...event, component: this.#component })
  }

  #callOn(resource: Resource, { metadata }: ApiObject, subresource?: string, options: CallOptions = {}) {
    const { namespace = '', name = '' } = metadata ?? {}
    return internalCall(this.#parts.engine, {
      resource,
      namespace,
      name,
      options,
      as: this.#as,
      ...(subresource === undefined ? {} : { subresource }),
    })
  }
}

function accountUser({ engine: { identity } }: WorkloadParts, account: string): InternalUser {
  const namespace = identity.prefixed('system')
  return {
    user: { name: accountName(namespace, account), uid: '', groups: [...accountGroups(namespace), authenticatedGroup], extra: {} },
    userAgent: identity.prefixed('controller-manager'),
  }
}

const objectOf = <T extends ApiObject>(resource: Resource, { stored, object }: WrittenObject): T =>
  (stored === undefined ? object : stored.decode(resource)) as T
