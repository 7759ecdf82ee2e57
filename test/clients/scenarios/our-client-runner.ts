// Runs scenarios with cluster-apiserver/client.

import { type Collection, connect, type DynamicObject, isClientError, type TypedClient } from 'cluster-apiserver/client'
import { bookmarkSeconds, type Ref, type ScenarioRunner, type Step, type StepResult, tableOf } from './scenario.js'

export class OurClientRunner implements ScenarioRunner {
  readonly name = 'ours'
  readonly #client: TypedClient

  /** From a kubeconfig, or an existing client. */
  constructor(configuration: string | TypedClient) {
    this.#client = typeof configuration === 'string' ? connect({ file: configuration }) : configuration
  }

  async perform(step: Step, namespace: string): Promise<StepResult> {
    try {
      return await this.#perform(step, namespace)
    } catch (error) {
      if (isClientError(error) && error.kind === 'status') return { refused: error.reason }
      throw error
    }
  }

  async close(): Promise<void> {
    this.#client.close()
  }

  #collectionOf({ apiVersion, kind }: Omit<Ref, 'name'>, namespace: string): Promise<Collection<DynamicObject>> {
    return this.#client.ofKind(apiVersion, kind, { namespace })
  }

  async #perform(step: Step, namespace: string): Promise<StepResult> {
    const ref = step.op === 'create' || step.op === 'apply' ? (step.object as unknown as Ref) : step.ref
    const objects = await this.#collectionOf(ref, namespace)
    switch (step.op) {
      case 'create':
        return { object: await objects.create(step.object as DynamicObject, { dryRun: step.dryRun ?? false }) }
      case 'get':
        return { object: await objects.get(step.ref.name) }
      case 'list':
        return { names: await namesOf(objects, step) }
      case 'update':
        return { object: await objects.modify(step.ref.name, (object) => ({ ...object, ...step.fields })) }
      case 'staleUpdate': {
        const read = await objects.get(step.ref.name)
        await objects.patch(step.ref.name, { metadata: { labels: { touched: 'yes' } } })
        return { object: await objects.update({ ...read, ...step.fields }) }
      }
      case 'patch':
        return { object: await objects.patch(step.ref.name, step.patch as object, { type: step.type }) }
      case 'apply':
        return { object: await objects.apply(step.object as DynamicObject, { fieldManager: step.manager, force: step.force }) }
      case 'delete':
        await objects.delete(step.ref.name)
        return { done: true }
      case 'deleteSelected':
        await objects.deleteCollection({ labelSelector: step.selector })
        return { done: true }
      case 'scale':
        await objects.subresource('scale').patch(step.ref.name, { spec: { replicas: step.replicas } })
        return { done: true }
      case 'updateStatus': {
        const read = await objects.get(step.ref.name)
        return { object: await objects.subresource('status').update({ ...read, status: step.status }) }
      }
      case 'as':
        return new OurClientRunner(this.#client.as({ user: step.user })).perform(step.step, namespace)
      case 'watch': {
        const since = await objects.list({ labelSelector: step.selector })
        const events: string[] = []
        const watching = (async () => {
          for await (const { type, object } of objects.watch({ labelSelector: step.selector, since })) {
            events.push(`${type} ${object.metadata?.name}`)
            if (events.length === step.during.length) break
          }
        })()
        for (const inner of step.during) await this.perform(inner, namespace)
        await watching
        return { events }
      }
      case 'resume':
        return this.#resume(objects, step, namespace)
      case 'watchFrom':
        for await (const { type } of objects.watch({ resourceVersion: step.resourceVersion })) throw new Error(`there was ${type}`)
        return { done: true }
      case 'table':
        return tableOf(await objects.table({ labelSelector: step.selector }))
    }
  }

  async #resume(
    objects: Collection<DynamicObject>,
    { selector: labelSelector, before, later }: Extract<Step, { op: 'resume' }>,
    namespace: string,
  ): Promise<StepResult> {
    let { resourceVersion = '' } = (await objects.list({ labelSelector })).metadata
    const events: string[] = []
    for (const inner of before) await this.perform(inner, namespace)
    for await (const { type, object } of objects.watch({
      labelSelector,
      resourceVersion,
      bookmarks: true,
      timeoutSeconds: bookmarkSeconds,
    })) {
      events.push(`${type} ${object.metadata?.name ?? ''}`)
      resourceVersion = object.metadata?.resourceVersion ?? ''
      if (type === 'BOOKMARK') break
    }
    for (const inner of later) await this.perform(inner, namespace)
    const wanted = events.length + later.length
    for await (const { type, object } of objects.watch({ labelSelector, resourceVersion })) {
      if (events.push(`${type} ${object.metadata?.name}`) === wanted) break
    }
    return { events }
  }
}

async function namesOf(objects: Collection<DynamicObject>, step: Extract<Step, { op: 'list' }>): Promise<readonly string[]> {
  const { selector: labelSelector, fieldSelector, limit } = step
  const names: string[] = []
  const options = { labelSelector, ...(fieldSelector === undefined ? {} : { fieldSelector }), ...(limit === undefined ? {} : { limit }) }
  for await (const { metadata } of objects.items(options)) names.push(metadata?.name ?? '')
  return names
}
