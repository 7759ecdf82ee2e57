// `logs`: prints logs of one or more containers.

import type { Pod } from '@cluster-apiserver/client/typed/types.js'
import { defineCommand } from '../../command-line/command.js'
import { explain } from '../../command-line/errors.js'
import { durationMs, UsageError } from '../../command-line/flags.js'
import { chooseContainer, containersOf, findPod, findPods, podFlags } from '../../objects/find-pod.js'

const maxLineLength = 256 * 1024

export const command = defineCommand({
  usage: 'logs (POD | TYPE/NAME | -l SELECTOR) [-c CONTAINER] [flags]',
  examples: ['logs web -f --tail=20', 'logs deployment/shop --all-containers --prefix', 'logs -l app=shop'],
  flags: {
    container: { kind: 'text', short: 'c', help: 'container' },
    follow: { kind: 'switch', short: 'f', help: 'follow the log' },
    previous: { kind: 'switch', short: 'p', help: 'log of the previous container' },
    tail: { kind: 'number', initial: '-1', help: 'number of lines from the end; -1: all' },
    since: { kind: 'text', help: 'only lines of this duration, such as 5m' },
    'since-time': { kind: 'text', help: 'only lines after this time (RFC 3339)' },
    timestamps: { kind: 'switch', help: 'show timestamps' },
    'limit-bytes': { kind: 'number', initial: '0', help: 'maximum number of bytes; 0: all' },
    'all-containers': { kind: 'switch', help: 'all containers of the pod' },
    prefix: { kind: 'switch', help: 'prefix lines with pod and container' },
    selector: { kind: 'text', short: 'l', help: 'label selector of the pods' },
    ...podFlags('20s'),
    'ignore-errors': { kind: 'switch', help: 'continue with other containers after an error' },
    'max-log-requests': { kind: 'number', initial: '5', help: 'maximum number of followed logs' },
    'insecure-skip-tls-verify-backend': { kind: 'switch', help: 'the server does not verify the certificate of the kubelet' },
  },
  run: async (context) => {
    const { args, flags, session, io, signal } = context
    const [podArgument, container, ...extraArgs] = args
    if (extraArgs.length > 0) throw new UsageError('expected: logs (POD | TYPE/NAME) [-c CONTAINER]')
    const containerName = flags.container ?? container
    if (flags['all-containers'] && containerName !== undefined)
      throw new UsageError(`--all-containers=true should not be specified with container name ${containerName}`)
    if ((flags.tail ?? -1) < -1) throw new UsageError('--tail must be greater than or equal to -1')
    if (flags.since !== undefined && flags['since-time'] !== undefined)
      throw new UsageError('at most one of --since-time and --since may be specified')
    if (flags.selector !== undefined && podArgument !== undefined) throw new UsageError('only a selector (-l) or a POD name is allowed')
    const pods: readonly Pod[] =
      flags.selector !== undefined
        ? (await session.client.pods(session.namespace).list({ labelSelector: flags.selector })).items
        : flags['all-containers'] && podArgument?.includes('/') === true
          ? await findPods(podArgument, context)
          : [await findPod(podArgument, context)]
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
      const names = flags['all-containers'] ? containersOf(pod).map(({ name }) => name ?? '') : [chooseContainer(pod, containerName, io)]
      return names.map((name) => ({ pod: pod.metadata?.name ?? '', name }))
    })
    const show = async ({ pod, name }: (typeof sources)[number]): Promise<void> => {
      const lines = session.client.pods(session.namespace).logs(pod, { ...options, container: name })
      let partialLine = ''
      for await (const chunk of lines) {
        if (!flags.prefix) io.raw(chunk)
        else {
          const parts = (partialLine + chunk).split('\n')
          partialLine = parts.pop() ?? ''
          // Splits lines longer than maxLineLength.
          if (partialLine.length > maxLineLength) parts.push(partialLine)
          if (partialLine.length > maxLineLength) partialLine = ''
          for (const line of parts) io.raw(`${io.style.cyan(`[pod/${pod}/${name}]`)} ${line}\n`)
        }
        await io.untilDrained()
      }
      if (partialLine !== '') io.raw(`${io.style.cyan(`[pod/${pod}/${name}]`)} ${partialLine}\n`)
    }
    if (pods.length === 0) io.err(`No resources found in ${session.namespace} namespace.\n`)
    const maxRequests = flags['max-log-requests'] ?? 5
    if (flags.follow && sources.length > Math.max(1, maxRequests))
      throw new UsageError(
        `you are attempting to follow ${sources.length} log streams, but maximum allowed concurrency is ${maxRequests}, use --max-log-requests to increase the limit`,
      )
    const showOrReport = async (source: (typeof sources)[number]): Promise<void> => {
      try {
        await show(source)
      } catch (thrown) {
        if (!flags['ignore-errors'] || signal.aborted) throw thrown
        io.err(explain(thrown))
      }
    }
    if (flags.follow) await Promise.all(sources.map(showOrReport))
    else for (const source of sources) await showOrReport(source)
    return 0
  },
})
