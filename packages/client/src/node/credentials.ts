// Credentials of kubeconfig users (client certificate, token, token file, basic auth, exec plugin) and the CA of the cluster.

import { readFileSync } from 'node:fs'
import { errorMessage } from '@cluster-apiserver/api/base/error-message.js'
import type { ChosenConnection } from '../config/choose-connection.js'
import { bearer, readPlugin } from '../config/exec-credential.js'
import type { UserEntry } from '../config/kubeconfig.js'
import { ConfigError, CredentialError } from '../errors.js'
import type { Credential, CredentialSource } from '../transport/transport.js'
import { pluginSource } from './exec-plugin.js'
import { type KeyPair, KeyPairFiles } from './key-pair-files.js'

export function credentialsOf({ user, userName, cluster }: ChosenConnection, ca: string | undefined): CredentialSource | undefined {
  const where = userName === '' ? 'the user' : `user ${JSON.stringify(userName)}`
  const certificate = certificateOf(user, where)
  const authorization = authorizationOf(user, where)
  const plugin =
    user.exec === undefined
      ? undefined
      : pluginSource({
          plugin: readPlugin(user.exec, where),
          cluster,
          ca: ca === undefined ? undefined : Buffer.from(ca).toString('base64'),
        })
  // A token or password replaces the exec plugin; a client certificate is used if the plugin returns none.
  if (plugin !== undefined && authorization === undefined && certificate === undefined) return plugin
  if (plugin !== undefined && authorization === undefined) return withCertificate(plugin, certificate)
  if (authorization === undefined && certificate === undefined) return undefined
  return entrySource(certificate, authorization)
}

interface Authorization {
  text(): string
  /** Reads the token again; returns true if the token has changed. */
  renew?(): boolean
}

function entrySource(certificate: (() => KeyPair) | undefined, authorization: Authorization | undefined): CredentialSource {
  let last: Credential = {}
  return {
    current: () => {
      const pair = certificate?.()
      const text = authorization?.text()
      if (pair?.cert !== last.certificate?.cert || pair?.key !== last.certificate?.key || text !== last.authorization) {
        last = { ...(pair === undefined ? {} : { certificate: pair }), ...(text === undefined ? {} : { authorization: text }) }
      }
      return last
    },
    invalidate: () => authorization?.renew?.() ?? false,
  }
}

const withCertificate = (plugin: CredentialSource, certificate: (() => KeyPair) | undefined): CredentialSource => {
  const pluginCredentials = new WeakMap<Credential, Credential>()
  return {
    current: async (signal) => {
      const credential = await plugin.current(signal)
      const pair = credential.certificate ?? certificate?.()
      const combined: Credential = { ...credential, ...(pair === undefined ? {} : { certificate: pair }) }
      pluginCredentials.set(combined, credential)
      return combined
    },
    invalidate: (credential) => plugin.invalidate?.(pluginCredentials.get(credential) ?? credential) ?? false,
  }
}

function certificateOf(user: UserEntry, where: string): (() => KeyPair) | undefined {
  const cert = pemOf(user, 'client-certificate', where)
  const key = pemOf(user, 'client-key', where)
  if (cert === undefined || key === undefined) return undefined
  const pair = new KeyPairFiles({ cert, key, where })
  return () => pair.current()
}

/** Returns a reader of PEM data: inline data takes precedence over a file. */
function pemOf(user: UserEntry, name: 'client-certificate' | 'client-key', where: string): (() => string) | undefined {
  const inline = user[`${name}-data`] ?? ''
  if (inline !== '') {
    const text = Buffer.from(inline, 'base64').toString('utf8')
    return () => text
  }
  const path = user[name] ?? ''
  if (path === '') return undefined
  return () => {
    try {
      return readFileSync(path, 'utf8')
    } catch (cause) {
      throw new CredentialError(`${where}: ${name}: ${errorMessage(cause)}`, { cause })
    }
  }
}

function authorizationOf(user: UserEntry, where: string): Authorization | undefined {
  const { token = '', tokenFile = '', username = '', password = '' } = user
  if (tokenFile !== '') {
    const file = new TokenFile(tokenFile, `${where}: tokenFile`, token === '' ? undefined : token)
    return { text: () => bearer(file.text().trim(), `${where}: tokenFile`), renew: () => file.renew() }
  }
  if (token !== '') {
    const text = bearer(token, where)
    return { text: () => text }
  }
  if (username === '') return undefined
  const text = `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`
  return { text: () => text }
}

export function caOf({ cluster }: ChosenConnection): string | undefined {
  const inline = cluster['certificate-authority-data'] ?? ''
  if (inline !== '') return checkPem(Buffer.from(inline, 'base64').toString('utf8'), 'certificate-authority-data')
  const path = cluster['certificate-authority'] ?? ''
  if (path === '') return undefined
  try {
    return checkPem(readFileSync(path, 'utf8'), `certificate-authority: ${path}`)
  } catch (cause) {
    if (cause instanceof ConfigError) throw cause
    throw new ConfigError(`certificate-authority: ${errorMessage(cause)}`, { cause })
  }
}

/** Without this check TLS would trust no server and report an untrusted server. */
function checkPem(text: string, where: string): string {
  if (text.includes('-----BEGIN ')) return text
  throw new ConfigError(`${where} has no PEM certificate`)
}

const rereadMs = 60_000

class TokenFile {
  private readonly path: string
  private readonly where: string
  private content: string | undefined
  private readAtMs = Number.NEGATIVE_INFINITY

  constructor(path: string, where: string, fallback?: string) {
    this.path = path
    this.where = where
    this.content = fallback
  }

  text(): string {
    if (performance.now() - this.readAtMs >= rereadMs) this.renew()
    return this.content as string
  }

  renew(): boolean {
    const previous = this.content
    try {
      this.content = readFileSync(this.path, 'utf8')
    } catch (cause) {
      if (previous === undefined) throw new CredentialError(`${this.where}: ${errorMessage(cause)}`, { cause })
    }
    this.readAtMs = performance.now()
    return this.content !== previous
  }
}
