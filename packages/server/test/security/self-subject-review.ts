// As whom does the server know somebody? Asked with any certificate, header and token, over HTTP/1.1 and HTTP/2.

import { connect, constants } from 'node:http2'
import { request } from 'node:https'
import type { TLSSocket } from 'node:tls'
import type { RunningServer } from 'cluster-apiserver'

/** Everybody may ask, so that the answer tells of authentication alone. Whoever is nobody gets 401. */
export const openFlags = [
  '--authorization-mode=AlwaysAllow',
  '--feature-gates=APISelfSubjectReview=true',
  '--runtime-config=authentication.cluster.io/v1alpha1=true',
]

const path = '/apis/authentication.cluster.io/v1alpha1/selfsubjectreviews'

export interface Showing {
  readonly cert?: string
  readonly key?: string
  readonly token?: string
  /** Several values become several headers. */
  readonly headers?: { readonly [name: string]: string | string[] }
  readonly protocol?: 'h1' | 'h2'
  /** Opens the connection; `cert` and `key` do not count then. */
  readonly connect?: () => TLSSocket
}

export interface Known {
  readonly status: number
  readonly name?: string
  readonly uid?: string
  readonly groups?: readonly string[]
  readonly extra?: { readonly [key: string]: readonly string[] }
}

export async function identify({ url, caPem }: Pick<RunningServer, 'url' | 'caPem'>, showing: Showing): Promise<Known> {
  const { cert, key, token, headers = {}, protocol = 'h1', connect: createConnection } = showing
  const pair = { ...(cert === undefined ? {} : { cert }), ...(key === undefined ? {} : { key }) }
  const tls = createConnection === undefined ? { agent: false, ca: caPem, ...pair } : { createConnection }
  const sent = { ...(token === undefined ? {} : { authorization: `Bearer ${token}` }), 'content-type': 'application/json', ...headers }
  const { status, text } = await (protocol === 'h1' ? overHttp1(url, tls, sent) : overHttp2(url, tls, sent))
  if (status !== 201) return { status }
  const { userInfo } = (
    JSON.parse(text) as { readonly status: { readonly userInfo: Omit<Known, 'name' | 'status'> & { username: string } } }
  ).status
  const { username, uid, groups, extra } = userInfo
  return {
    status,
    name: username,
    ...(uid === undefined ? {} : { uid }),
    ...(groups === undefined ? {} : { groups }),
    ...(extra === undefined ? {} : { extra }),
  }
}

interface Reply {
  readonly status: number
  readonly text: string
}

type Headers = { readonly [name: string]: string | string[] }

function overHttp1(url: string, tls: object, headers: Headers): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const asked = request(new URL(path, url), { method: 'POST', headers, ...tls }, (response) => {
      let text = ''
      response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk))
      response.on('end', () => resolve({ status: response.statusCode ?? 0, text }))
    })
    asked.on('error', reject).end('{}')
  })
}

function overHttp2(url: string, tls: object, headers: Headers): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const session = connect(url, tls)
    session.on('error', reject)
    const stream = session.request({ [constants.HTTP2_HEADER_METHOD]: 'POST', [constants.HTTP2_HEADER_PATH]: path, ...headers })
    let status = 0
    let text = ''
    stream.on('response', (head) => {
      status = Number(head[constants.HTTP2_HEADER_STATUS])
    })
    stream.setEncoding('utf8').on('data', (chunk: string) => (text += chunk))
    stream.on('error', reject)
    stream.on('end', () => {
      session.close()
      resolve({ status, text })
    })
    stream.end('{}')
  })
}
