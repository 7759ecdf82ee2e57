// Controller of CustomResourceDefinitions: accepts names, sets conditions, and deletes all custom resources before a deleted CRD.

import { ApiError } from '@cluster-apiserver/api/api/api-error.js'
import { Catalog } from '@cluster-apiserver/api/api/catalog/catalog.js'
import type { Resource } from '@cluster-apiserver/api/api/catalog/resource.js'
import { sameValue } from '@cluster-apiserver/api/api/validation/same-value.js'
import { createMergePatch } from '@cluster-apiserver/api/base/create-merge-patch.js'
import { errorMessage } from '@cluster-apiserver/api/base/error-message.js'
import { listSome, shorten } from '@cluster-apiserver/api/base/shorten.js'
import { sortTexts } from '@cluster-apiserver/api/base/text-order.js'
import { customKind } from '@cluster-apiserver/api/resources/apiextensions/custom-resource/custom-kind.js'
import { cleanupFinalizer } from '@cluster-apiserver/api/resources/apiextensions/custom-resource-definition.js'
import type {
  CustomResourceDefinition,
  CustomResourceDefinitionCondition,
  CustomResourceDefinitionNames,
} from '@cluster-apiserver/api/resources/apiextensions/v1.schema.js'
import { approvalCondition, isProtected } from '@cluster-apiserver/api/resources/apiextensions/validation/crd-api-approval.js'
import { timeOf } from '@cluster-apiserver/api/schema/scalars.js'
import { bytesOf } from '../../objects/entry/entry-header.js'
import { hasDeletionTimestamp } from '../../objects/owner-index.js'
import { type ControllerParts, KeyedController, type Run } from '../framework/controller.js'
import { internalPatch } from '../framework/internal-call.js'
import type { Outcome } from '../framework/work-queue.js'
import type { Controller } from '../leader-election/leader-election.js'
import { deleteContents, type Remaining } from '../namespaces/namespace-contents.js'
import { crdResource, isBuiltInGroup } from './crd-catalog.js'
import { acceptNames, refuseNames } from './crd-names.js'
import { CachedExtracts, groupIn, NamesByGroup } from './names-by-group.js'

/** Work key that reconciles all CRDs of a group: the names of a deleted CRD are free for the others. */
const namesFreedKey = (group: string): string => `*.${group}`

const maxListedFinalizers = 10

/**
 * `graceMs`: delay of each of the two steps of a deletion, in which creates that another process has admitted are committed; longer than
 * 500 ms, the age at which a create is admitted again.
 */
export const customResourceDefinitions = (parts: ControllerParts, graceMs = 0): Controller => {
  const names = new NamesByGroup(parts.engine.store)
  const crdNames = new CachedExtracts(parts.engine.store, crdNamesOf)
  return new KeyedController(parts, {
    name: 'crd_naming_condition_controller',
    // Short, so that the CRD is deleted soon after its last object.
    backOff: { firstMs: 200, maxMs: 5000 },
    sources: () => {
      const resource = crdResource(parts.catalogs)
      if (resource === undefined) return []
      return [
        {
          resource,
          namespace: '',
          keyOf: ({ key, entry }, eventType) => {
            const name = names.update(resource, key, eventType)
            crdNames.forget(name)
            if (eventType === 'DELETED') return namesFreedKey(groupIn(name))
            return hasDeletionTimestamp(bytesOf(entry)) ? { key: name, afterMs: graceMs } : name
          },
        },
      ]
    },
    work: async (key, run) => {
      const resource = crdResource(parts.catalogs)
      if (resource === undefined) return undefined
      const reconciler = new Reconciler({ ...parts, names, crdNames }, resource, run)
      if (!key.startsWith('*.')) return await reconciler.reconcile(key)
      for (const { name } of reconciler.crdsIn(key.slice(2))) await reconciler.reconcile(name)
      return undefined
    },
  })
}

interface CrdNames {
  readonly name: string
  readonly group: string
  readonly acceptedNames: CustomResourceDefinitionNames | undefined
}

const crdNamesOf = ({ metadata, spec, status }: CustomResourceDefinition): CrdNames => ({
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

function deletedCondition({ status }: CustomResourceDefinition, hadInstances: boolean): CustomResourceDefinitionCondition {
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
    const message = `could not issue all deletes: ${shorten(errorMessage(failure))}`
    return { type: 'Terminating', status: 'True', reason: 'InstanceDeletionFailed', message }
  }
  const names = sortTexts([...finalizers.keys()])
  if (names.length === 0) return inProgress
  const finalizerList = listSome(names.slice(0, maxListedFinalizers), names.length - maxListedFinalizers)
  const message = `could not confirm zero CustomResources remaining: some have finalizers: ${finalizerList}`
  return { type: 'Terminating', status: 'True', reason: 'InstanceDeletionCheck', message }
}

interface ReconcilerParts extends ControllerParts {
  readonly names: NamesByGroup
  readonly crdNames: CachedExtracts<CrdNames>
}

class Reconciler {
  private readonly parts: ReconcilerParts
  private readonly resource: Resource
  private readonly run: Run

  constructor(parts: ReconcilerParts, resource: Resource, run: Run) {
    this.parts = parts
    this.resource = resource
    this.run = run
  }

  crdsIn(group: string): readonly CrdNames[] {
    const { resource } = this
    const { names, crdNames } = this.parts
    return names.namesIn(resource, group).flatMap((name) => {
      const found = crdNames.get(resource, name)
      return found?.group === group ? [found] : []
    })
  }

  async reconcile(name: string): Promise<Outcome> {
    const stored = this.parts.engine.store.read({ resource: this.resource, namespace: '', name })
    if (stored === undefined) return undefined
    const crd = stored.decode(this.resource) as CustomResourceDefinition
    try {
      if (crd.metadata?.deletionTimestamp !== undefined) return await this.remove(crd)
      await this.accept(crd)
    } catch (thrown) {
      if (!(thrown instanceof ApiError) || (thrown.status.code !== 404 && thrown.status.code !== 409)) throw thrown
    }
    return undefined
  }

  private async accept(crd: CustomResourceDefinition): Promise<void> {
    const others = (): CrdNames[] => this.crdsIn(crd.spec?.group ?? '').filter(({ name }) => name !== crd.metadata?.name)
    const isBuiltIn = isBuiltInGroup(this.parts.catalogs.current, crd.spec?.group ?? '')
    const { names, namesAccepted, established } = isBuiltIn
      ? refuseNames(crd)
      : acceptNames(crd, () => others().map(({ acceptedNames }) => acceptedNames))
    const approval = this.approvalOf(crd)
    const wanted = approval === undefined ? [namesAccepted, established] : [namesAccepted, established, approval]
    const conditions = this.withConditions(crd.status?.conditions ?? [], wanted)
    const status = { ...crd.status, acceptedNames: names, conditions }
    if (sameValue(status, crd.status)) return
    await this.write(crd, { status })
  }

  private approvalOf(crd: CustomResourceDefinition): CustomResourceDefinitionCondition | undefined {
    const { identity } = this.parts.engine
    return isProtected(crd.spec?.group ?? '', identity) ? approvalCondition(crd, identity) : undefined
  }

  /** Changes lastTransitionTime only if `status` changes. */
  private withConditions(
    before: readonly CustomResourceDefinitionCondition[],
    wanted: readonly CustomResourceDefinitionCondition[],
  ): readonly CustomResourceDefinitionCondition[] {
    const now = timeOf(this.parts.engine.clock.now())
    const next = [...before]
    for (const condition of wanted) {
      const index = next.findIndex(({ type }) => type === condition.type)
      const old = next[index]
      const updated = { ...condition, lastTransitionTime: old?.status === condition.status ? (old?.lastTransitionTime ?? now) : now }
      if (index === -1) next.push(updated)
      else next[index] = updated
    }
    return next
  }

  private async remove(crd: CustomResourceDefinition): Promise<Outcome> {
    const { engine } = this.parts
    const finalizers = crd.metadata?.finalizers ?? []
    const finalizer = cleanupFinalizer(engine.identity)
    if (!finalizers.includes(finalizer)) return undefined
    const before = crd.status?.conditions ?? []
    if (before.find(({ type }) => type === 'Terminating')?.reason === 'InstanceDeletionPending') {
      await this.write(crd, { status: { ...crd.status, conditions: this.withConditions(before, [inProgress]) } })
      return undefined
    }
    const resource = this.instancesOf(crd)
    if (resource !== undefined) {
      const isStillTerminating = (): boolean => this.isTerminating(crd)
      const remaining = await deleteContents(engine, { name: '', collections: [resource], run: this.run, isStillTerminating })
      if (remaining === undefined || this.run.signal.aborted) return undefined
      if (engine.store.count(resource, '') > 0) return await this.wait(crd, remaining)
    }
    const conditions = this.withConditions(before, [deletedCondition(crd, resource !== undefined)])
    await this.write(crd, {
      status: { ...crd.status, conditions },
      finalizers: finalizers.filter((each) => each !== finalizer),
    })
    return undefined
  }

  /** Writes and logs the condition only if its reason or message has changed. */
  private async wait(crd: CustomResourceDefinition, remaining: Remaining): Promise<Outcome> {
    const before = crd.status?.conditions ?? []
    const terminating = waitingCondition(remaining)
    const old = before.find(({ type }) => type === terminating.type)
    if (old?.reason !== terminating.reason || old?.message !== terminating.message) {
      const fields = { controller: 'crd_naming_condition_controller', key: crd.metadata?.name, reason: terminating.message }
      this.parts.logger[remaining.failures.length > 0 ? 'warn' : 'info'](
        fields,
        'deletion of a CustomResourceDefinition waits for its objects',
      )
      const status = { ...crd.status, conditions: this.withConditions(before, [terminating]) }
      await this.write(crd, { status })
    }
    return 'again'
  }

  /** False if the CRD was created again or restored meanwhile. */
  private isTerminating({ metadata: { name = '', uid } = {} }: CustomResourceDefinition): boolean {
    const stored = this.parts.engine.store.read({ resource: this.resource, namespace: '', name })
    const metadata = stored && (stored.inAnyVersion(this.resource).metadata ?? {})
    return metadata?.uid === uid && metadata?.deletionTimestamp !== undefined
  }

  private instancesOf(crd: CustomResourceDefinition): Resource | undefined {
    const { current } = this.parts.catalogs
    if (isBuiltInGroup(current, crd.spec?.group ?? '')) return undefined
    // Prefer a served version that needs no conversion webhook.
    const kind = this.kindOf(crd)
    const served = current.inCollection(kind?.collection ?? '')
    return served !== undefined && served.conversion === undefined ? served : kind
  }

  private kindOf(crd: CustomResourceDefinition): Resource | undefined {
    const { identity } = this.parts.catalogs.current
    const versions = (crd.spec?.versions ?? []).map((version) => ({ ...version, served: true }))
    const stored = versions.find((version) => version.storage === true) ?? versions[0]
    const kind = customKind({ ...crd, spec: { ...crd.spec, versions } } as CustomResourceDefinition)
    const catalog = new Catalog({ identity, definitions: [kind], isServed: () => true })
    return catalog.find(crd.spec?.group ?? '', stored?.name ?? '', kind.resource)
  }

  /** Patches changed fields only, because a CRD may be large. */
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
    const metadataChange = finalizers === undefined ? {} : { finalizers }
    await internalPatch(engine, target, {
      metadata: { uid, resourceVersion, ...metadataChange },
      status: createMergePatch(before ?? {}, status) ?? {},
    })
  }
}

interface Change {
  readonly status: CustomResourceDefinition['status']
  readonly finalizers?: readonly string[]
}
