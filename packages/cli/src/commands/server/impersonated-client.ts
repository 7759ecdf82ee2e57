// The client for a request that a proxy forwards: its `Impersonate-*` headers choose the user, as they do without a proxy.

import type { IncomingMessage } from 'node:http'
import { errorMessage } from '@cluster-apiserver/api/base/error-message.js'
import { decodeHeader } from '@cluster-apiserver/api/base/text/header-encoding.js'
import type { Client } from '@cluster-apiserver/client/client.js'
import { StatusError } from '@cluster-apiserver/client/errors.js'

const prefix = 'impersonate-'
const extraPrefix = `${prefix}extra-`

/** Throws a StatusError for headers without a user, and if the proxy itself impersonates: its user must not be left. */
export function impersonatedClient(client: Client, { headersDistinct }: IncomingMessage): Client {
  const values = new Map(Object.entries(headersDistinct).map(([name, texts = []]) => [name, texts.map(decodeHeader)]))
  if (![...values.keys()].some((name) => name.startsWith(prefix))) return client
  if (client.requester.settings.impersonate !== undefined)
    throw new StatusError({ code: 403, reason: 'Forbidden', message: 'the proxy impersonates a user; requests cannot choose another one' })
  const one = (name: string): string => values.get(`${prefix}${name}`)?.[0] ?? ''
  try {
    const extra = [...values].filter(([name]) => name.startsWith(extraPrefix))
    return client.as({
      user: one('user'),
      uid: one('uid'),
      groups: values.get(`${prefix}group`) ?? [],
      extra: Object.fromEntries(extra.map(([name, texts]) => [decodeURIComponent(name.slice(extraPrefix.length)), texts])),
    })
  } catch (thrown) {
    throw new StatusError({ code: 400, reason: 'BadRequest', message: errorMessage(thrown) })
  }
}
