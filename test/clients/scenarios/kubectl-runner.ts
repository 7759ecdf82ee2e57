// Runs scenarios with kubectl or clusterctl.

import type { Kubectl } from '../kubectl.js'
import { manifest } from '../kubectl.js'
import { bookmarkSeconds, normalizedTable, pathOf, type Ref, type ScenarioRunner, type Step, type StepResult } from './scenario.js'

class Refusal extends Error {}

interface WatchEvent {
  readonly type: string
  readonly object: { readonly metadata: { readonly name?: string; readonly resourceVersion: string } }
}

const plural = ({ apiVersion, kind }: Omit<Ref, 'name'>): string => {
  const [group = '', version] = apiVersion.includes('/') ? apiVersion.split('/') : ['', apiVersion]
  return group === '' ? `${kind.toLowerCase()}s` : `${kind.toLowerCase()}s.${version}.${group}`
}

export class KubectlRunner implements ScenarioRunner {
  readonly name = 'kubectl'
  readonly #kubectl: Kubectl
  readonly #flags: readonly string[]

  /** `flags` are added to every command. */
  constructor(kubectl: Kubectl, flags: readonly string[] = []) {
    this.#kubectl = kubectl
    this.#flags = flags
  }

  async perform(step: Step, namespace: string): Promise<StepResult> {
    try {
      return await this.#perform(step, namespace)
    } catch (error) {
      if (error instanceof Refusal) return { refused: error.message }
      throw error
    }
  }

  async close(): Promise<void> {}

  async #perform(step: Step, namespace: string): Promise<StepResult> {
    const json = async (line: string, rest: readonly string[] = [], stdin?: unknown): Promise<StepResult> => ({
      object: await this.#json(namespace, line, rest, stdin),
    })
    switch (step.op) {
      case 'create':
        return json(`create -o json --validate=false${step.dryRun === true ? ' --dry-run=server' : ''} -f -`, [], step.object)
      case 'get':
        return json(`get ${plural(step.ref)} ${step.ref.name} -o json`)
      case 'list': {
        const paging = step.limit === undefined ? '' : ` --chunk-size=${step.limit}`
        const fields = step.fieldSelector === undefined ? [] : ['--field-selector', step.fieldSelector]
        const list = await this.#json(namespace, `get ${plural(step.ref)} -o json${paging}`, ['--selector', step.selector, ...fields])
        const { items } = list as { readonly items: readonly { readonly metadata: { readonly name: string } }[] }
        return { names: items.map(({ metadata }) => metadata.name) }
      }
      case 'update': {
        const read = await this.#json(namespace, `get ${plural(step.ref)} ${step.ref.name} -o json`)
        return json('replace -o json --validate=false -f -', [], { ...read, ...step.fields })
      }
      case 'staleUpdate': {
        const read = await this.#json(namespace, `get ${plural(step.ref)} ${step.ref.name} -o json`)
        await this.#json(namespace, `label ${plural(step.ref)} ${step.ref.name} touched=yes -o json`)
        return json('replace -o json --validate=false -f -', [], { ...read, ...step.fields })
      }
      case 'patch':
        return json(`patch ${plural(step.ref)} ${step.ref.name} -o json --type=${step.type} --patch`, [JSON.stringify(step.patch)])
      case 'apply': {
        const force = step.force ? ' --force-conflicts' : ''
        return json(`apply --server-side --field-manager=${step.manager}${force} -o json --validate=false -f -`, [], step.object)
      }
      case 'delete':
        await this.#run(namespace, `delete ${plural(step.ref)} ${step.ref.name} --wait=false`)
        return { done: true }
      case 'deleteSelected':
        await this.#run(namespace, `delete ${plural(step.ref)}`, ['--selector', step.selector])
        return { done: true }
      case 'scale':
        await this.#run(namespace, `scale ${plural(step.ref)} ${step.ref.name} --replicas=${step.replicas}`)
        return { done: true }
      case 'updateStatus': {
        const read = await this.#json(namespace, `get ${plural(step.ref)} ${step.ref.name} -o json`)
        const path = `/apis/${step.ref.apiVersion}/namespaces/${namespace}/${step.ref.kind.toLowerCase()}s/${step.ref.name}/status`
        // kubectl before 1.24 has no --subresource.
        return json(`replace --raw ${path} -f -`, [], { ...read, status: step.status })
      }
      case 'as':
        return new KubectlRunner(this.#kubectl, [...this.#flags, '--as', step.user]).perform(step.step, namespace)
      case 'watch':
        return this.#watch(step, namespace)
      case 'resume':
        return this.#resume(step, namespace)
      case 'watchFrom':
        await this.#run(namespace, `get --raw ${pathOf(step.ref, namespace)}?watch=true&resourceVersion=${step.resourceVersion}`)
        return { done: true }
      case 'table': {
        const text = await this.#run(namespace, `get ${plural(step.ref)} -o wide`, ['--selector', step.selector])
        const [columns = [], ...rows] = text
          .trimEnd()
          .split('\n')
          .map((line) => line.trimEnd().split(/ {2,}/))
        return normalizedTable(columns, rows)
      }
    }
  }

  /** kubectl requests bookmarks only with --raw. */
  async #resume({ ref, selector, before, later }: Extract<Step, { op: 'resume' }>, namespace: string): Promise<StepResult> {
    const path = `${pathOf(ref, namespace)}?labelSelector=${encodeURIComponent(selector)}`
    const { metadata } = (await this.#json(namespace, `get --raw ${path}`)) as { readonly metadata: { readonly resourceVersion: string } }
    for (const step of before) await this.perform(step, namespace)
    const begun = await this.#events(`${path}&watch=true&allowWatchBookmarks=true&timeoutSeconds=${bookmarkSeconds}`, metadata, 'BOOKMARK')
    for (const step of later) await this.perform(step, namespace)
    const rest = await this.#events(`${path}&watch=true`, begun.at(-1)?.object.metadata ?? metadata, later.length)
    return { events: [...begun, ...rest].map(({ type, object }) => `${type} ${object.metadata.name ?? ''}`) }
  }

  /** Reads watch events until there are `last` (a number), or until one has the type `last`. */
  async #events(
    path: string,
    { resourceVersion }: { readonly resourceVersion: string },
    last: string | number,
  ): Promise<readonly WatchEvent[]> {
    const watching = this.#kubectl.follow(`get --raw ${path}&resourceVersion=${resourceVersion}`)
    await watching.until(typeof last === 'string' ? new RegExp(`${last}.*\n`) : new RegExp(`(?:.*\n){${last}}`))
    watching.close()
    const lines = watching.stdout.split('\n').filter((line) => line !== '')
    return lines.map((line) => JSON.parse(line) as WatchEvent)
  }

  /** kubectl lists first and watches from there; events of existing objects are ignored. */
  async #watch({ ref, selector, during }: Extract<Step, { op: 'watch' }>, namespace: string): Promise<StepResult> {
    const line = `get ${plural(ref)} --watch --output-watch-events --no-headers --selector ${selector} -o custom-columns=TYPE:type,NAME:object.metadata.name`
    const watching = this.#kubectl.within(namespace).follow(line)
    const lines = (): readonly string[] => watching.stdout.split('\n').filter((text) => text !== '')
    await watching.until(/before/)
    const before = lines().length
    for (const step of during) await this.perform(step, namespace)
    await watching.until(new RegExp(`(?:.*\\n){${before + during.length}}`))
    watching.close()
    return {
      events: lines()
        .slice(before)
        .map((text) => text.trim().replace(/\s+/, ' ')),
    }
  }

  async #json(namespace: string, line: string, rest: readonly string[] = [], stdin?: unknown): Promise<Readonly<Record<string, unknown>>> {
    return JSON.parse(await this.#run(namespace, line, rest, stdin)) as Readonly<Record<string, unknown>>
  }

  async #run(namespace: string, line: string, rest: readonly string[] = [], stdin?: unknown): Promise<string> {
    const { code, stdout, stderr } = await this.#kubectl
      .within(namespace)
      .run(line, [...rest, ...this.#flags], stdin === undefined ? undefined : manifest([stdin]))
    if (code === 0) return stdout
    throw new Refusal(reasonOf(stderr))
  }
}

/** The reason is in brackets, unless kubectl has its own message. */
function reasonOf(stderr: string): string {
  const [, reason] = /Error from server \((\w+)\)/.exec(stderr) ?? []
  if (reason !== undefined) return reason
  if (/You must be logged in to the server/.test(stderr)) return 'Unauthorized'
  if (/Apply failed with \d+ conflict/.test(stderr)) return 'Conflict'
  if (/ is invalid(?:: |\s*$)/.test(stderr)) return 'Invalid'
  throw new Error(`kubectl failed: ${stderr}`)
}
