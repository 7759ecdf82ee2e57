// Shows what containers have logged.

import type { Pod } from '../../client/typed/types.js'
import { defineCommand } from '../command.js'
import { explain } from '../failure.js'
import { durationMs, UsageError } from '../flags.js'
import { containerOf, containersOf, podFlags, podOf, podsOf } from '../pods.js'

const longestLine = 256 * 1024

export const command = defineCommand({
  usage: 'logs (POD | TYPE/NAME | -l SELECTOR) [-c CONTAINER] [flags]',
  about: 'show what containers have logged',
  examples: ['logs web -f --tail=20', 'logs deployment/shop --all-containers --prefix', 'logs -l app=shop'],
  flags: {
    container: { kind: 'text', short: 'c', help: 'which container' },
    follow: { kind: 'switch', short: 'f', help: 'go on showing it' },
    previous: { kind: 'switch', short: 'p', help: 'of the container that ran before' },
    tail: { kind: 'number', initial: '-1', help: 'so many lines from the end; -1: all' },
    since: { kind: 'text', help: 'what is not older, such as 5m' },
    'since-time': { kind: 'text', help: 'what is not older than this time' },
    timestamps: { kind: 'switch', help: 'with the time of each line' },
    'limit-bytes': { kind: 'number', initial: '0', help: 'so much of it' },
    'all-containers': { kind: 'switch', help: 'of all containers' },
    prefix: { kind: 'switch', help: 'with pod and container before each line' },
    selector: { kind: 'text', short: 'l', help: 'of all pods with these labels' },
    ...podFlags('20s'),
    'ignore-errors': { kind: 'switch', help: 'what fails for one container is told, and the others go on' },
    'max-log-requests': { kind: 'number', initial: '5', help: 'how many logs may be followed at once' },
    'insecure-skip-tls-verify-backend': { kind: 'switch', help: 'the server trusts any node, and hands on what it says' },
  },
  run: async (work) => {
    const { args, flags, session, io, signal } = work
    const [word, container, ...more] = args
    if (more.length > 0) throw new UsageError('expected: logs (POD | TYPE/NAME) [-c CONTAINER]')
    const named = flags.container ?? container
    if (flags['all-containers'] && named !== undefined)
      throw new UsageError(`--all-containers=true should not be specified with container name ${named}`)
    if ((flags.tail ?? -1) < -1) throw new UsageError('--tail must be greater than or equal to -1')
    if (flags.since !== undefined && flags['since-time'] !== undefined)
      throw new UsageError('at most one of --since-time and --since may be specified')
    if (flags.selector !== undefined && word !== undefined) throw new UsageError('only a selector (-l) or a POD name is allowed')
    const pods: readonly Pod[] =
      flags.selector !== undefined
        ? (await session.client.pods(session.namespace).list({ labelSelector: flags.selector })).items
        : flags['all-containers'] && word?.includes('/') === true
          ? await podsOf(word, work)
          : [await podOf(word, work)]
    const tail = flags.tail ?? -1
    const tailLines = tail >= 0 ? tail : flags.selector !== undefined ? 10 : undefined
    const options = {
      follow: flags.follow,
      previous: flags.previous,
      timestamps: flags.timestamps,
      insecure: flags['insecure-skip-tls-verify-backend'],
      ...(tailLines === undefined ? {} : { tailLines }),
      ...((flags['limit-bytes'] ?? 0) > 0 ? { limitBytes: flags['limit-bytes'] as number } : {}),
      ...(flags.since === undefined ? {} : { sinceSeconds: Math.max(1, Math.round(durationMs('since', flags.since) / 1000)) }),
      ...(flags['since-time'] === undefined ? {} : { sinceTime: flags['since-time'] }),
      signal,
    }
    const sources = pods.flatMap((pod) => {
      const names = flags['all-containers'] ? containersOf(pod).map(({ name }) => name ?? '') : [containerOf(pod, named, io)]
      return names.map((name) => ({ pod: pod.metadata?.name ?? '', name }))
    })
    const show = async ({ pod, name }: (typeof sources)[number]): Promise<void> => {
      const lines = session.client.pods(session.namespace).logs(pod, { ...options, container: name })
      let rest = ''
      for await (const chunk of lines) {
        if (!flags.prefix) io.raw(chunk)
        else {
          const parts = (rest + chunk).split('\n')
          rest = parts.pop() ?? ''
          // A line without an end is shown in pieces.
          if (rest.length > longestLine) parts.push(rest)
          if (rest.length > longestLine) rest = ''
          for (const line of parts) io.raw(`${io.style.cyan(`[pod/${pod}/${name}]`)} ${line}\n`)
        }
        await io.untilRoom()
      }
      if (rest !== '') io.raw(`${io.style.cyan(`[pod/${pod}/${name}]`)} ${rest}\n`)
    }
    if (pods.length === 0) io.err(`No resources found in ${session.namespace} namespace.\n`)
    const most = flags['max-log-requests'] ?? 5
    if (flags.follow && sources.length > Math.max(1, most))
      throw new UsageError(
        `you are attempting to follow ${sources.length} log streams, but maximum allowed concurrency is ${most}, use --max-log-requests to increase the limit`,
      )
    const showOrTell = async (source: (typeof sources)[number]): Promise<void> => {
      try {
        await show(source)
      } catch (thrown) {
        if (!flags['ignore-errors'] || signal.aborted) throw thrown
        io.err(explain(thrown))
      }
    }
    if (flags.follow) await Promise.all(sources.map(showOrTell))
    else for (const source of sources) await showOrTell(source)
    return 0
  },
})
