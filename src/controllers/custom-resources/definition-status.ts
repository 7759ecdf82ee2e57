// Tends the definitions of custom kinds: which names are accepted, whether the kind is served, and that its objects go before it does.

import { ApiError } from '../../api/api-error.js'
import { Catalog, type Resource } from '../../api/catalog.js'
import { sameValue } from '../../api/validation/same-value.js'
import { mergeDifference } from '../../base/merge-difference.js'
import { nowOrInPieces } from '../../base/pieces.js'
import { listSome, shorten } from '../../base/shorten.js'
import { sortTexts } from '../../base/text-order.js'
import { annotatedMetadataOf, leanObject, metadataOf } from '../../objects/lean-object.js'
import type { StoredObject } from '../../objects/stored-object.js'
import { approvalCondition, isProtected } from '../../resources/apiextensions/api-approval.js'
import { customKind } from '../../resources/apiextensions/custom/custom-kind.js'
import { cleanupFinalizer } from '../../resources/apiextensions/custom-resource-definition.js'
import type {
  CustomResourceDefinition,
  CustomResourceDefinitionCondition,
  CustomResourceDefinitionNames,
} from '../../resources/apiextensions/v1.schema.js'
import { timeOf } from '../../schema/scalars.js'
import type { Outcome } from '../kit/keyed-queue.js'
import { KeyedLoop, type LoopParts, type Run } from '../kit/loop.js'
import type { Loop } from '../leader-election.js'
import { deleteContents, type Remaining } from '../namespace-contents.js'
import { patchOwn } from '../own-write.js'
import { acceptNames, refuseNames } from './accepted-names.js'
import { definitionsResource, isEstablished, isOwnGroup } from './custom-kinds.js'
import { Extracts } from './extracts.js'
import { leanDefinition } from './lean-definition.js'
import { groupIn, NamesByGroup } from './names-by-group.js'
import { parseAhead } from './whole-definition.js'

/** A key beside those of definitions: a definition of the group is gone, and its names are free. */
const freed = (group: string): string => `*.${group}`

/** Of the names of finalizers, which are anybody's. */
const mostNames = 10

export const customResourceDefinitions = (parts: LoopParts): Loop => {
  const names = new NamesByGroup(parts.engine.store)
  const claims = new Extracts(parts.engine.store, claimOf)
  return new KeyedLoop(parts, {
    name: 'crd_naming_condition_controller',
    // Whoever lets the last object go does not wait for the definition for long.
    backOff: { firstMs: 200, mostMs: 5000 },
    sources: () => {
      const resource = definitionsResource(parts.catalogs)
      if (resource === undefined) return []
      return [
        {
          resource,
          namespace: '',
          keyOf: ({ key }, seen) => {
            const name = names.note(resource, key, seen)
            claims.forget(name)
            return seen === 'DELETED' ? freed(groupIn(name)) : name
          },
        },
      ]
    },
    work: async (key, run) => {
      const resource = definitionsResource(parts.catalogs)
      if (resource === undefined) return undefined
      const tend = new Tending({ ...parts, names, claims }, resource, run)
      if (!key.startsWith('*.')) return await tend.one(key)
      for (const { name } of tend.ofGroup(key.slice(2))) await tend.one(name)
      return undefined
    },
  })
}

/** What a definition says of names. */
interface Claim {
  readonly name: string
  readonly group: string
  readonly acceptedNames: CustomResourceDefinitionNames | undefined
}

const claimOf = ({ metadata, spec, status }: CustomResourceDefinition): Claim => ({
  name: metadata?.name ?? '',
  group: spec?.group ?? '',
  acceptedNames: status?.acceptedNames,
})

const inProgress: CustomResourceDefinitionCondition = {
  type: 'Terminating',
  status: 'True',
  reason: 'InstanceDeletionInProgress',
  message: 'CustomResource deletion is in progress',
}

/** Seen only of a definition that something else holds, too. */
function endedCondition({ status }: CustomResourceDefinition, hadInstances: boolean): CustomResourceDefinitionCondition {
  const ended = { type: 'Terminating', status: 'False' }
  if (!hadInstances) {
    return { ...ended, reason: 'OverlappingBuiltInResource', message: 'instances overlap with built-in resources in storage' }
  }
  const isEstablished = status?.conditions?.some((condition) => condition.type === 'Established' && condition.status === 'True') ?? false
  return isEstablished
    ? { ...ended, reason: 'InstanceDeletionCompleted', message: 'removed all instances' }
    : { ...ended, reason: 'NeverEstablished', message: 'resource was never established' }
}

function waitingCondition({ finalizers, failures }: Remaining): CustomResourceDefinitionCondition {
  const [failure] = failures
  if (failure !== undefined) {
    const why = failure instanceof Error ? failure.message : String(failure)
    const message = `could not issue all deletes: ${shorten(why)}`
    return { type: 'Terminating', status: 'True', reason: 'InstanceDeletionFailed', message }
  }
  const names = sortTexts([...finalizers.keys()])
  if (names.length === 0) return inProgress
  const some = listSome(names.slice(0, mostNames), names.length - mostNames)
  const message = `could not confirm zero CustomResources remaining: some have finalizers: ${some}`
  return { type: 'Terminating', status: 'True', reason: 'InstanceDeletionCheck', message }
}

interface TendingParts extends LoopParts {
  readonly names: NamesByGroup
  readonly claims: Extracts<Claim>
}

class Tending {
  private readonly parts: TendingParts
  private readonly resource: Resource
  private readonly run: Run

  constructor(parts: TendingParts, resource: Resource, run: Run) {
    this.parts = parts
    this.resource = resource
    this.run = run
  }

  ofGroup(group: string): readonly Claim[] {
    const { resource } = this
    const { names, claims } = this.parts
    return names.of(resource, group).flatMap((name) => {
      const claim = claims.of(resource, name)
      return claim?.group === group ? [claim] : []
    })
  }

  async one(name: string): Promise<Outcome> {
    const stored = this.parts.engine.store.read({ resource: this.resource, namespace: '', name })
    if (stored === undefined) return undefined
    const definition = leanDefinition(this.parts.engine.store, stored, this.resource)
    try {
      if (definition.metadata?.deletionTimestamp !== undefined) return await this.remove(definition, stored)
      await this.accept(definition, stored)
    } catch (thrown) {
      // Somebody was quicker; the change that they made comes as a key of its own.
      if (!(thrown instanceof ApiError) || (thrown.status.code !== 404 && thrown.status.code !== 409)) throw thrown
    }
    return undefined
  }

  private async accept(definition: CustomResourceDefinition, stored: StoredObject): Promise<void> {
    const others = (): Claim[] => this.ofGroup(definition.spec?.group ?? '').filter(({ name }) => name !== definition.metadata?.name)
    const isOwn = isOwnGroup(this.parts.catalogs.current, definition.spec?.group ?? '')
    const { names, namesAccepted, established } = isOwn
      ? refuseNames(definition)
      : acceptNames(definition, () => others().map(({ acceptedNames }) => acceptedNames))
    const approval = this.approvalOf(definition, stored)
    const wanted = approval === undefined ? [namesAccepted, established] : [namesAccepted, established, approval]
    const conditions = this.withConditions(definition.status?.conditions ?? [], wanted)
    const status = { ...definition.status, acceptedNames: names, conditions }
    if (sameValue(status, definition.status)) return
    if (established.status === 'True' && !isEstablished(definition))
      await nowOrInPieces(parseAhead(this.parts.engine.store, stored, this.resource), this.run.pieces)
    await this.write(definition, { status })
  }

  /** Only some ask for annotations, of which there may be many. */
  private approvalOf(definition: CustomResourceDefinition, stored: StoredObject): CustomResourceDefinitionCondition | undefined {
    const { identity } = this.parts.engine
    if (!isProtected(definition.spec?.group ?? '', identity)) return undefined
    return approvalCondition({ ...definition, metadata: annotatedMetadataOf(stored, this.resource) }, identity)
  }

  /** Times change only with the status of a condition. */
  private withConditions(
    before: readonly CustomResourceDefinitionCondition[],
    wanted: readonly CustomResourceDefinitionCondition[],
  ): readonly CustomResourceDefinitionCondition[] {
    const now = timeOf(this.parts.engine.clock.now())
    const next = [...before]
    for (const condition of wanted) {
      const place = next.findIndex(({ type }) => type === condition.type)
      const old = next[place]
      const made = { ...condition, lastTransitionTime: old?.status === condition.status ? (old?.lastTransitionTime ?? now) : now }
      if (place === -1) next.push(made)
      else next[place] = made
    }
    return next
  }

  /** First the objects, then the definition. */
  private async remove(definition: CustomResourceDefinition, stored: StoredObject): Promise<Outcome> {
    const { engine } = this.parts
    const finalizers = definition.metadata?.finalizers ?? []
    const finalizer = cleanupFinalizer(engine.identity)
    if (!finalizers.includes(finalizer)) return undefined
    const before = definition.status?.conditions ?? []
    if (before.find(({ type }) => type === 'Terminating')?.reason === 'InstanceDeletionPending') {
      // The change comes back as a key of its own.
      await this.write(definition, { status: { ...definition.status, conditions: this.withConditions(before, [inProgress]) } })
      return undefined
    }
    const resource = this.instancesOf(definition, stored)
    if (resource !== undefined) {
      const isStill = (): boolean => this.isGoing(definition)
      const left = await deleteContents(engine, { name: '', collections: [resource], run: this.run, isStill })
      if (left === undefined || this.run.signal.aborted) return undefined
      if (engine.store.count(resource, '') > 0) return await this.wait(definition, left)
    }
    const conditions = this.withConditions(before, [endedCondition(definition, resource !== undefined)])
    await this.write(definition, {
      status: { ...definition.status, conditions },
      finalizers: finalizers.filter((each) => each !== finalizer),
    })
    return undefined
  }

  /** Says for what, and that once: the condition changes with what holds objects, and not with how many there are. */
  private async wait(definition: CustomResourceDefinition, left: Remaining): Promise<Outcome> {
    const before = definition.status?.conditions ?? []
    const terminating = waitingCondition(left)
    const said = before.find(({ type }) => type === terminating.type)
    if (said?.reason !== terminating.reason || said?.message !== terminating.message) {
      const fields = { loop: 'crd_naming_condition_controller', key: definition.metadata?.name, why: terminating.message }
      this.parts.logger[left.failures.length > 0 ? 'warn' : 'info'](fields, 'a definition waits for its objects')
      const status = { ...definition.status, conditions: this.withConditions(before, [terminating]) }
      await this.write(definition, { status })
    }
    return 'again'
  }

  /** Whether it is still that one, and being deleted: another one may have come, or it may have been put back to what it was. */
  private isGoing({ metadata: { name = '', uid } = {} }: CustomResourceDefinition): boolean {
    const stored = this.parts.engine.store.read({ resource: this.resource, namespace: '', name })
    const now = stored && metadataOf(stored, this.resource)
    return now?.uid === uid && now?.deletionTimestamp !== undefined
  }

  /** The kind as it is stored, whether or not a version of it is served; undefined where its objects are not ours to delete. */
  private instancesOf(lean: CustomResourceDefinition, stored: StoredObject): Resource | undefined {
    const { current } = this.parts.catalogs
    if (isOwnGroup(current, lean.spec?.group ?? '')) return undefined
    // A served version is preferred, if no webhook has to convert to it.
    const served = current.inCollection(this.kindOf(lean)?.collection ?? '')
    if (served !== undefined && served.conversion === undefined) return served
    return this.kindOf(leanObject(stored, this.resource) as CustomResourceDefinition)
  }

  private kindOf(definition: CustomResourceDefinition): Resource | undefined {
    const { identity } = this.parts.catalogs.current
    const versions = (definition.spec?.versions ?? []).map((version) => ({ ...version, served: true }))
    const stored = versions.find((version) => version.storage === true) ?? versions[0]
    const kind = customKind({ ...definition, spec: { ...definition.spec, versions } } as CustomResourceDefinition)
    const catalog = new Catalog({ identity, definitions: [kind], isServed: () => true })
    return catalog.find(definition.spec?.group ?? '', stored?.name ?? '', kind.resource)
  }

  /** A patch of the changed fields alone: a definition may be large. */
  private async write({ metadata, status: before }: CustomResourceDefinition, { status, finalizers }: Change): Promise<void> {
    const { engine } = this.parts
    const { name = '', uid = '', resourceVersion = '' } = metadata ?? {}
    const target = {
      resource: this.resource,
      name,
      subresource: 'status',
      options: { fieldManager: engine.identity.prefixed('apiserver') },
      signal: this.run.signal,
    }
    const held = finalizers === undefined ? {} : { finalizers }
    await patchOwn(engine, target, { metadata: { uid, resourceVersion, ...held }, status: mergeDifference(before ?? {}, status) ?? {} })
  }
}

interface Change {
  readonly status: CustomResourceDefinition['status']
  readonly finalizers?: readonly string[]
}
