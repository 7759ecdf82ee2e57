// `drain`: cordons nodes and evicts their pods.

import { printDuration } from '@cluster-apiserver/api/base/duration.js'
import { errorMessage } from '@cluster-apiserver/api/base/error-message.js'
import { escapeTerminalControls } from '@cluster-apiserver/api/base/text/escape-terminal-controls.js'
import { isForbidden, isNotFound, StatusError } from '@cluster-apiserver/client/errors.js'
import { sleep } from '@cluster-apiserver/client/requests/requester.js'
import type { Pod } from '@cluster-apiserver/client/typed/types.js'
import { defineCommand } from '../../command-line/command.js'
import { CommandError, explain } from '../../command-line/errors.js'
import { durationMs } from '../../command-line/flags.js'
import type { Io } from '../../command-line/io.js'
import type { Session } from '../../command-line/session.js'
import { chunkFlags, selectFlags } from '../../objects/object-arguments.js'
import { parseDryRun, writeFlags } from '../../objects/write-results.js'
import { findNodes, markNodes } from './nodes.js'
import { type DrainFilterFlags, isTerminatingLongerThan, podsOfNode } from './pods-to-drain.js'

const retryMs = 5000
const maxPollMs = 1000
/** Concurrent evictions. Large, because evictions that a PodDisruptionBudget blocks must not block the others. */
const maxEvictions = 500

export const command = defineCommand({
  usage: 'drain (NODE… | -l SELECTOR) [flags]',
  examples: ['drain worker-1 --ignore-daemonsets', 'drain -l zone=east --ignore-daemonsets --delete-emptydir-data --timeout=5m'],
  flags: {
    selector: selectFlags.selector,
    'ignore-daemonsets': { kind: 'switch', help: 'ignore pods of DaemonSets' },
    'delete-emptydir-data': { kind: 'switch', help: 'also evict pods with emptyDir volumes; their data is lost' },
    force: { kind: 'switch', help: 'also evict pods without a controller' },
    'grace-period': { kind: 'number', initial: '-1', help: 'grace period in seconds; -1: default of the pod' },
    timeout: { kind: 'text', initial: '0', help: 'timeout of a node; 0: none' },
    'pod-selector': { kind: 'text', help: 'label selector of the pods to evict' },
    'disable-eviction': { kind: 'switch', help: 'delete pods; ignores PodDisruptionBudgets' },
    'skip-wait-for-delete-timeout': {
      kind: 'number',
      initial: '0',
      help: 'do not wait for pods that have been terminating for more seconds; 0: wait for all',
    },
    'dry-run': writeFlags['dry-run'],
    'field-manager': writeFlags['field-manager'],
    ...chunkFlags,
  },
  run: async (context) => {
    const { flags, session, io, signal } = context
    const settings: DrainSettings = {
      flags,
      dryRun: parseDryRun(flags['dry-run']),
      graceSeconds: flags['grace-period'] ?? -1,
      timeoutMs: durationMs('timeout', flags.timeout ?? '0'),
      isEviction: !flags['disable-eviction'],
      session,
      io,
      signal,
    }
    const marked = await markNodes(await findNodes('drain', context), { command: 'cordon', isUnschedulable: true }, context)
    const failures: string[] = []
    const pending: string[] = []
    for (const { metadata } of marked.nodes) {
      const name = metadata?.name ?? ''
      const errors = await drainNode(name, settings)
      if (errors.length === 0) {
        io.out(`${io.style.cyan(`node/${name}`)} drained${noteOf(settings)}\n`)
        continue
      }
      io.err(explain(new CommandError(`unable to drain node "${name}" due to error:${aggregate(errors)}, continuing command...`)))
      failures.push(...errors)
      pending.push(name)
    }
    if (pending.length > 0) io.err(`There are pending nodes to be drained:\n${pending.map((name) => ` ${name}\n`).join('')}`)
    for (const failure of failures) io.err(`${escapeTerminalControls(failure)}\n`)
    return failures.length > 0 ? 1 : marked.code
  },
})

interface DrainSettings {
  readonly flags: DrainFilterFlags
  readonly dryRun: 'none' | 'client' | 'server'
  readonly graceSeconds: number
  readonly timeoutMs: number
  readonly isEviction: boolean
  readonly session: Session
  readonly io: Io
  readonly signal: AbortSignal
}

const noteOf = ({ dryRun }: DrainSettings): string => (dryRun === 'none' ? '' : dryRun === 'server' ? ' (server dry run)' : ' (dry run)')

const aggregate = (errors: readonly string[]): string => {
  const distinct = [...new Set(errors)]
  return distinct.length === 1 ? (distinct[0] as string) : `[${distinct.join(', ')}]`
}

/** Returns error messages; none if the node has no more pods to evict. */
async function drainNode(name: string, settings: DrainSettings): Promise<readonly string[]> {
  const { flags, session, io, signal } = settings
  try {
    const { toDelete, warnings, errors } = await podsOfNode(name, flags, session)
    if (errors.length > 0) return errors
    if (warnings.length > 0) io.err(`${io.style.yellow('Warning:')} ${warnings.join('; ')}\n`)
    if (settings.dryRun === 'client') {
      for (const pod of toDelete) io.out(`evicting pod ${fullName(pod)} (dry run)\n`)
      return []
    }
    const failures = await removePods(toDelete, settings)
    if (failures.length > 0) {
      const remaining = await podsOfNode(name, flags, session)
      if (remaining.toDelete.length > 0)
        io.err(
          `There are pending pods in node "${name}" when an error occurred: ${aggregate(failures)}\n${remaining.toDelete.map(({ metadata }) => `pod/${metadata?.name}\n`).join('')}`,
        )
      if (remaining.errors.length > 0)
        io.err(`Following errors occurred while getting the list of pods to delete:\n${aggregate(remaining.errors)}\n`)
    }
    return failures
  } catch (thrown) {
    if (signal.aborted) throw thrown
    return [errorMessage(thrown)]
  }
}

const fullName = ({ metadata }: Pod): string => `${metadata?.namespace}/${metadata?.name}`
const isTerminatingNamespace = (thrown: unknown): boolean =>
  thrown instanceof StatusError && isForbidden(thrown) && thrown.causes.some(({ reason }) => reason === 'NamespaceTerminating')

async function removePods(pods: readonly Pod[], settings: DrainSettings): Promise<readonly string[]> {
  const { session, io, signal, dryRun, graceSeconds, timeoutMs } = settings
  const deadline = timeoutMs > 0 ? Date.now() + timeoutMs : Number.POSITIVE_INFINITY
  const timeoutText = printDuration(BigInt(Math.round(timeoutMs * 1e6)))
  const options = { ...(graceSeconds >= 0 ? { gracePeriodSeconds: graceSeconds } : {}), ...(dryRun === 'server' ? { dryRun: true } : {}) }
  const podsIn = ({ metadata }: Pod) => session.client.pods(metadata?.namespace)
  const failures: string[] = []
  if (settings.isEviction) {
    const waiting = [...pods]
    const worker = async (): Promise<void> => {
      for (let pod = waiting.shift(); pod !== undefined; pod = waiting.shift()) {
        const failure = await evictAndWait(pod)
        if (failure !== undefined) failures.push(failure)
      }
    }
    await Promise.all(Array.from({ length: Math.min(maxEvictions, pods.length) }, worker))
    return failures
  }
  for (const pod of pods)
    await podsIn(pod)
      .delete(pod.metadata?.name ?? '', options)
      .catch((thrown: unknown) => {
        if (!isNotFound(thrown)) throw thrown
      })
  if (dryRun === 'server') return []
  for (const pod of pods) if (!(await waitUntilGone(pod, 'deleted'))) return ['timed out waiting for the condition']
  return []

  /** Returns the error message of a failure. */
  async function evictAndWait(pod: Pod): Promise<string | undefined> {
    const { name = '', namespace = '' } = pod.metadata ?? {}
    const where = `pods/"${name}" -n "${namespace}"`
    for (let current = pod; ; ) {
      io.out(`evicting pod ${fullName(pod)}${dryRun === 'server' ? ' (server dry run)' : ''}\n`)
      if (Date.now() >= deadline) return `error when evicting ${where}: global timeout reached: ${timeoutText}`
      try {
        await podsIn(pod).evict(name, options)
        break
      } catch (thrown) {
        if (signal.aborted) throw thrown
        if (isNotFound(thrown)) return undefined
        const isBlocked = thrown instanceof StatusError && thrown.code === 429
        if (!isBlocked && !isTerminatingNamespace(thrown)) return `error when evicting ${where}: ${errorMessage(thrown)}`
        // A terminating pod in a terminating namespace needs no eviction.
        if (!isBlocked && current.metadata?.deletionTimestamp !== undefined) break
        const what = isBlocked ? where : `pod "${name}" from terminating namespace "${namespace}"`
        io.err(`error when evicting ${what} (will retry after 5s): ${escapeTerminalControls(errorMessage(thrown))}\n`)
        await sleep(Math.min(retryMs, Math.max(0, deadline - Date.now())), signal)
        if (!isBlocked) current = (await podsIn(pod).find(name)) ?? current
      }
    }
    if (dryRun === 'server') return undefined
    try {
      if (await waitUntilGone(pod, 'evicted')) return undefined
      return `error when waiting for pod "${name}" in namespace "${namespace}" to terminate: global timeout reached: ${timeoutText}`
    } catch (thrown) {
      if (signal.aborted) throw thrown
      return `error when waiting for pod "${name}" in namespace "${namespace}" to terminate: ${errorMessage(thrown)}`
    }
  }

  async function waitUntilGone(pod: Pod, operation: string): Promise<boolean> {
    const { name = '', uid } = pod.metadata ?? {}
    const skipSeconds = settings.flags['skip-wait-for-delete-timeout'] ?? 0
    for (let waitMs = 100; ; waitMs = Math.min(2 * waitMs, maxPollMs)) {
      const live = await podsIn(pod).find(name)
      if (live === undefined || live.metadata?.uid !== uid) {
        io.out(`${io.style.cyan(`pod/${name}`)} ${operation}\n`)
        return true
      }
      if (isTerminatingLongerThan(live, skipSeconds)) {
        io.out(`pod "${name}" has DeletionTimestamp older than ${skipSeconds} seconds, skipping\n`)
        return true
      }
      const remainingMs = deadline - Date.now()
      if (remainingMs <= 0) return false
      io.progress(`waiting for pod/${name}`)
      await sleep(Math.min(waitMs, remainingMs), signal)
    }
  }
}
