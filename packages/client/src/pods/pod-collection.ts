// Pods, with what leads into them: logs, commands, forwarded ports; and the wishes that they take.

import { refuseUnknownOptions } from '../base/known-options.js'
import { channelProtocols, commandProtocols } from './channels.js'
import { Collection } from './collection.js'
import { type ExecOptions, type Ran, RemoteCommand, runToEnd } from './exec.js'
import { deleteNames, execNames, logNames, preconditionNames, requestNames } from './option-names.js'
import { PortForward } from './port-forward.js'
import type { DeleteOptions, Query, RequestOptions, WriteOptions } from './query.js'
import type { Binding, Pod } from './typed/types.js'

export interface LogOptions extends RequestOptions {
  readonly container?: string
  readonly follow?: boolean
  readonly previous?: boolean
  readonly sinceSeconds?: number
  readonly sinceTime?: string
  readonly tailLines?: number
  readonly limitBytes?: number
  readonly timestamps?: boolean
  /** The kubelet's certificate is not looked at. */
  readonly insecure?: boolean
}

export class PodCollection extends Collection<Pod> {
  get status(): Collection<Pod> {
    return this.subresource('status')
  }

  get ephemeralContainers(): Collection<Pod> {
    return this.subresource('ephemeralcontainers')
  }

  /** What was logged, as one text. */
  async log(name: string, options: Omit<LogOptions, 'follow'> = {}): Promise<string> {
    return this.settings.session.requester.text(await this.logRequest(name, options))
  }

  /** What is logged, piece by piece as it comes; with `follow` until the container ends. */
  async *logs(name: string, options: LogOptions = {}): AsyncGenerator<string, void, undefined> {
    const response = await this.settings.session.requester.send(await this.logRequest(name, options))
    const decoder = new TextDecoder()
    for await (const chunk of response.chunks()) yield decoder.decode(chunk, { stream: true })
  }

  /** Runs a command in a container. */
  async exec(name: string, command: readonly string[], options: ExecOptions = {}): Promise<RemoteCommand> {
    return this.openCommand(name, 'exec', { command }, options)
  }

  /** Runs a command to its end, and answers with what it said. */
  async run(name: string, command: readonly string[], options: ExecOptions = {}): Promise<Ran> {
    return runToEnd((more) => this.exec(name, command, { ...options, ...more }))
  }

  /** The streams of what a container runs already. */
  async attach(name: string, options: ExecOptions = {}): Promise<RemoteCommand> {
    return this.openCommand(name, 'attach', {}, options)
  }

  /** Ports of the pod; each connection to one of them is a pair of streams. */
  async portForward(name: string, ports: readonly number[], options: RequestOptions = {}): Promise<PortForward> {
    refuseUnknownOptions('portForward', options, requestNames)
    const path = await this.path({ name, subresource: 'portforward' }, options)
    const query = { ports: ports.map(String) }
    const socket = await this.settings.session.requester.openSocket({ ...options, path, query, protocols: channelProtocols })
    return new PortForward(socket, ports)
  }

  /** Asks for the pod to go, which disruption budgets may refuse (429). */
  async evict(name: string, options: DeleteOptions = {}): Promise<void> {
    refuseUnknownOptions('evict', options, deleteNames)
    refuseUnknownOptions('evict: preconditions', options.preconditions ?? {}, preconditionNames)
    const { signal, timeoutMs, dryRun, ...deleteOptions } = options
    const body = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name, namespace: this.namespace }, deleteOptions }
    await this.subresource('eviction').createFor(name, body, {
      ...(signal === undefined ? {} : { signal }),
      ...(timeoutMs === undefined ? {} : { timeoutMs }),
      ...(dryRun === undefined ? {} : { dryRun }),
    })
  }

  /** Says on which node the pod shall run. */
  async bind(name: string, target: NonNullable<Binding['target']>, options: WriteOptions = {}): Promise<void> {
    const body = { apiVersion: 'v1', kind: 'Binding', metadata: { name, namespace: this.namespace }, target: { kind: 'Node', ...target } }
    await this.subresource('binding').createFor(name, body, options)
  }

  private async logRequest(name: string, options: LogOptions) {
    refuseUnknownOptions('logs', options, logNames)
    const { signal, timeoutMs, insecure, ...query } = options
    return {
      path: await this.path({ name, subresource: 'log' }),
      accept: '*/*',
      query: { ...query, insecureSkipTLSVerifyBackend: insecure } as Query,
      ...(signal === undefined ? {} : { signal }),
      ...(timeoutMs === undefined ? {} : { timeoutMs }),
    }
  }

  private async openCommand(name: string, subresource: string, more: Query, options: ExecOptions): Promise<RemoteCommand> {
    refuseUnknownOptions(subresource, options, execNames)
    const { container, stdin = false, tty = false, signal } = options
    const path = await this.path({ name, subresource }, options)
    // A terminal has one stream for both.
    const query = { ...more, container, stdin, stdout: true, stderr: !tty, tty }
    const socket = await this.settings.session.requester.openSocket({
      path,
      query,
      protocols: commandProtocols,
      ...(signal === undefined ? {} : { signal }),
    })
    return new RemoteCommand(socket, options)
  }
}
