// How a user of the configuration logs in: each way that an entry can name, as a source of credentials.

import { readFileSync } from 'node:fs'
import { bearer } from '../config/bearer.js'
import type { ChosenConnection } from '../config/choose-connection.js'
import type { UserEntry } from '../config/config-entries.js'
import { readPlugin } from '../config/exec-credential.js'
import { ConfigError, CredentialError } from '../errors.js'
import type { Credential, CredentialSource } from '../transport.js'
import { pluginSource } from './exec-plugin.js'
import { FollowedFile } from './followed-file.js'
import { FollowedPair, type KeyPair } from './followed-pair.js'

/** Undefined where the user has no way to log in. */
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
  // What the file says itself goes before what a command would say.
  if (plugin !== undefined && authorization === undefined && certificate === undefined) return plugin
  if (plugin !== undefined && authorization === undefined) return combined(plugin, certificate)
  if (authorization === undefined && certificate === undefined) return undefined
  return fromFile(certificate, authorization)
}

interface Authorization {
  text(): string
  /** Reads it again; whether it is another one now. */
  renew?(): boolean
}

function fromFile(certificate: (() => KeyPair) | undefined, authorization: Authorization | undefined): CredentialSource {
  let last: Credential = {}
  return {
    current: () => {
      const pair = certificate?.()
      const text = authorization?.text()
      // The same value as long as nothing has changed.
      if (pair?.cert !== last.certificate?.cert || pair?.key !== last.certificate?.key || text !== last.authorization) {
        last = { ...(pair === undefined ? {} : { certificate: pair }), ...(text === undefined ? {} : { authorization: text }) }
      }
      return last
    },
    refuse: () => authorization?.renew?.() ?? false,
  }
}

const combined = (plugin: CredentialSource, certificate: (() => KeyPair) | undefined): CredentialSource => {
  const made = new WeakMap<Credential, Credential>()
  return {
    current: async (signal) => {
      const credential = await plugin.current(signal)
      const pair = credential.certificate ?? certificate?.()
      const both: Credential = { ...credential, ...(pair === undefined ? {} : { certificate: pair }) }
      made.set(both, credential)
      return both
    },
    refuse: (credential) => plugin.refuse?.(made.get(credential) ?? credential) ?? false,
  }
}

function certificateOf(user: UserEntry, where: string): (() => KeyPair) | undefined {
  const cert = materialOf(user, 'client-certificate', where)
  const key = materialOf(user, 'client-key', where)
  if (cert === undefined || key === undefined) return undefined
  const pair = new FollowedPair({ cert, key, where })
  return () => pair.current()
}

/** A PEM text of the entry itself, which goes before the one of a file. */
function materialOf(user: UserEntry, name: 'client-certificate' | 'client-key', where: string): (() => string) | undefined {
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
      throw new CredentialError(`${where}: ${name}: ${cause instanceof Error ? cause.message : String(cause)}`, { cause })
    }
  }
}

function authorizationOf(user: UserEntry, where: string): Authorization | undefined {
  const { token = '', tokenFile = '', username = '', password = '' } = user
  if (tokenFile !== '') {
    const file = new FollowedFile(tokenFile, `${where}: tokenFile`, token === '' ? undefined : token)
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

/** The certificate authority of the cluster, which is read once. */
export function authorityOf({ cluster }: ChosenConnection): string | undefined {
  const inline = cluster['certificate-authority-data'] ?? ''
  if (inline !== '') return certificatesIn(Buffer.from(inline, 'base64').toString('utf8'), 'certificate-authority-data')
  const path = cluster['certificate-authority'] ?? ''
  if (path === '') return undefined
  try {
    return certificatesIn(readFileSync(path, 'utf8'), `certificate-authority: ${path}`)
  } catch (cause) {
    if (cause instanceof ConfigError) throw cause
    throw new ConfigError(`certificate-authority: ${cause instanceof Error ? cause.message : String(cause)}`, { cause })
  }
}

/** Where there are none nobody would be trusted, and the server would be blamed for it. */
function certificatesIn(text: string, where: string): string {
  if (text.includes('-----BEGIN ')) return text
  throw new ConfigError(`${where} has no certificate in PEM`)
}
