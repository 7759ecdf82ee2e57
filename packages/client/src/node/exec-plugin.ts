// Credentials from a command: run when there is none, when it has expired and when the server refused it; once, however many requests wait.

import { spawn } from 'node:child_process'
import { type Clock, systemClock } from '../../base/clock.js'
import { RecentMap } from '../../base/recent-map.js'
import { unlessAborted } from '../../base/unless-aborted.js'
import { bearer } from '../config/bearer.js'
import type { ClusterEntry } from '../config/config-entries.js'
import { type ExecPlugin, execInfo, type PluginCredential, readPluginAnswer } from '../config/exec-credential.js'
import { CredentialError } from '../errors.js'
import type { Credential, CredentialSource } from '../transport.js'
import { problemOfPair } from './followed-pair.js'

export interface PluginSettings {
  readonly plugin: ExecPlugin
  readonly cluster: ClusterEntry
  /** The certificate authority of the cluster as base64. */
  readonly ca: string | undefined
  readonly clock?: Clock
  /** Whether somebody sits at a terminal; by default whether standard input is one. */
  readonly isTerminal?: boolean
}

/** What a plugin may print. */
const longestOutput = 4 * 1024 * 1024

/** Clients of the same configuration share what the plugin gave, until the process ends. */
const sources = new RecentMap<string, PluginSource>(64)

export function pluginSource(settings: PluginSettings): CredentialSource {
  if (settings.clock !== undefined) return new PluginSource(settings)
  const key = JSON.stringify([settings.plugin, settings.cluster, settings.ca, settings.isTerminal])
  const known = sources.get(key)
  if (known !== undefined) return known
  const made = new PluginSource(settings)
  sources.set(key, made)
  return made
}

interface Held {
  readonly credential: Credential
  readonly expiresAt: number | undefined
}

class PluginSource implements CredentialSource {
  private readonly settings: PluginSettings
  private readonly clock: Clock
  private held: Held | undefined
  private running: Promise<Credential> | undefined

  constructor(settings: PluginSettings) {
    this.settings = settings
    this.clock = settings.clock ?? systemClock
  }

  current(signal?: AbortSignal): Credential | Promise<Credential> {
    const { held } = this
    if (held !== undefined && (held.expiresAt === undefined || this.clock.now() < held.expiresAt)) return held.credential
    this.running ??= this.renew().finally(() => {
      this.running = undefined
    })
    // Who stops waiting leaves the others their plugin.
    return unlessAborted(this.running, signal)
  }

  /** Another request may have seen to it already. */
  refuse(credential: Credential): boolean {
    if (this.held?.credential === credential) this.held = undefined
    return true
  }

  private async renew(): Promise<Credential> {
    const { plugin } = this.settings
    const isInteractive = mayAsk(plugin, this.settings.isTerminal ?? process.stdin.isTTY === true)
    const output = await runPlugin(this.settings, isInteractive)
    const answer = readPluginAnswer(plugin, output, this.clock.now())
    const credential = credentialOf(plugin, answer)
    this.held = { credential, expiresAt: answer.expiresAt }
    return credential
  }
}

function mayAsk({ interactiveMode, command }: ExecPlugin, isTerminal: boolean): boolean {
  if (interactiveMode === 'Always' && !isTerminal) {
    throw new CredentialError(`credential plugin ${command}: it must be able to ask questions, and standard input is no terminal`)
  }
  return interactiveMode !== 'Never' && isTerminal
}

function credentialOf({ command }: ExecPlugin, { token, certificate }: PluginCredential): Credential {
  const problem = certificate === undefined ? undefined : problemOfPair(certificate)
  if (problem !== undefined) throw new CredentialError(`credential plugin ${command}: its certificate and key cannot be used: ${problem}`)
  return {
    ...(token === undefined ? {} : { authorization: bearer(token, `credential plugin ${command}`) }),
    ...(certificate === undefined ? {} : { certificate }),
  }
}

function runPlugin({ plugin, cluster, ca }: PluginSettings, isInteractive: boolean): Promise<string> {
  const { command, args } = plugin
  const env = {
    ...process.env,
    ...Object.fromEntries(plugin.env.map(({ name, value }) => [name, value])),
    KUBERNETES_EXEC_INFO: execInfo(plugin, isInteractive, cluster, ca),
  }
  return new Promise((resolve, reject) => {
    const fail = (problem: string, cause?: unknown): void =>
      reject(new CredentialError(`credential plugin ${command}: ${problem}`, { cause }))
    const child = spawn(command, args, { env, stdio: [isInteractive ? 'inherit' : 'ignore', 'pipe', 'inherit'] })
    const chunks: Buffer[] = []
    let size = 0
    child.on('error', (error: Error & { readonly code?: string }) => {
      const hint = plugin.installHint === '' ? '' : `\n\n${plugin.installHint}`
      if (error.code === 'ENOENT') fail(`the command was not found${hint}`, error)
      else fail(`it cannot be run: ${error.message}${hint}`, error)
    })
    child.stdout?.on('data', (chunk: Buffer) => {
      size += chunk.length
      if (size <= longestOutput) chunks.push(chunk)
      else {
        fail('it prints too much')
        // Whoever does not end when asked to has nobody to print for.
        child.stdout?.destroy()
        child.kill()
      }
    })
    child.on('close', (code, signal) => {
      if (code === 0) resolve(Buffer.concat(chunks).toString('utf8'))
      else fail(code === null ? `it was ended by ${signal}` : `it failed with exit code ${code}`)
    })
  })
}
