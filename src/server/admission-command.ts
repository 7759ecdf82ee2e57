// `cluster-apiserver admission replay --to=<url>`: reviews that a server recorded (--recorded-admission-reviews) are sent to a hook once more,
// and what it makes of them is shown beside what was answered then. For people who write hooks.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import type { RecordedReview } from '../admission/webhooks/review-recorder.js'
import { getDocument } from '../net/get-document.js'
import { type EndpointAnswer, JsonEndpoint } from '../net/json-endpoint.js'
import { type Json, jsonPatch } from '../patch/json-patch.js'
import { PatchError } from '../patch/patch-error.js'
import { isRecord } from '../schema/read.js'
import { readConnection } from './connection-file.js'
import { describeChanges } from './describe-changes.js'
import { readFromDisk } from './options/file-texts.js'

export interface AdmissionSurroundings {
  readonly print: (text: string) => void
  readonly complain: (text: string) => void
}

const usage = `usage: cluster-apiserver admission replay --to=<url> [--file=<recordings>] [--data-dir=./cluster-data] [--webhook=<name>] [--last=<n>]

Sends recorded admission reviews to a hook again and shows what it answers: whether it allows them, what its patch changes, and what is
different from the answer at the time. The server records with --recorded-admission-reviews=<n>; secrets are not recorded.

  --to=<url>           the hook, http or https
  --ca-file=<file>     who signed its certificate; the authorities of this machine if left out
  --file=<recordings>  recordings in a file, as /debug/admission/reviews gives them; else the server of the data folder is asked
  --data-dir=<folder>  where admin.conf of that server is
  --kubeconfig=<file>  another client configuration than that
  --webhook=<name>     only reviews that this webhook was sent
  --last=<n>           only the last n of them
`

const timeoutMs = 30_000
const mostBytes = 64 << 20

interface Wish {
  readonly to: string
  readonly caFile: string | undefined
  readonly file: string | undefined
  readonly kubeconfig: string
  readonly webhook: string | undefined
  readonly last: number
}

/** Answers the exit code: 0, 1 where it cannot be done or the hook did not answer, 2 where the command line is wrong. */
export async function runAdmissionCommand(args: readonly string[], { print, complain }: AdmissionSurroundings): Promise<number> {
  if (args.includes('--help') || args.includes('-h')) {
    print(usage)
    return 0
  }
  const wish = readArguments(args)
  if (typeof wish === 'string') {
    complain(`cluster-apiserver admission: ${wish}\n\n${usage}`)
    return 2
  }
  try {
    const recorded = chosen(
      itemsOf(wish.file === undefined ? await fetchRecordings(wish.kubeconfig) : readFileSync(wish.file, 'utf8')),
      wish,
    )
    if (recorded.length === 0) throw new Error('no review was recorded')
    return await replay(recorded, wish, print)
  } catch (thrown) {
    complain(`cluster-apiserver admission: ${thrown instanceof Error ? thrown.message : String(thrown)}\n`)
    return 1
  }
}

function readArguments(args: readonly string[]): Wish | string {
  const text = { type: 'string' } as const
  try {
    const { values, positionals } = parseArgs({
      args: [...args],
      allowPositionals: true,
      options: { to: text, 'ca-file': text, file: text, 'data-dir': text, kubeconfig: text, webhook: text, last: text },
    })
    if (positionals.join(' ') !== 'replay') return 'the only thing it does is replay'
    const { to = '', last = '1000' } = values
    if (!URL.canParse(to) || !/^https?:$/.test(new URL(to).protocol))
      return '--to: a URL is expected, such as https://127.0.0.1:8443/mutate'
    if (!/^[1-9]\d{0,5}$/.test(last)) return '--last: a number is expected'
    const kubeconfig = values.kubeconfig ?? join(values['data-dir'] ?? 'cluster-data', 'admin.conf')
    return { to, caFile: values['ca-file'], file: values.file, kubeconfig, webhook: values.webhook, last: Number(last) }
  } catch (thrown) {
    return (thrown as Error).message
  }
}

async function fetchRecordings(kubeconfig: string): Promise<string> {
  const { url, ca, insecure, serverName, clientPair, authorization } = readConnection(kubeconfig, readFromDisk(kubeconfig))
  const { status, body } = await getDocument({
    url: new URL('/debug/admission/reviews', url).href,
    headers: authorization === undefined ? {} : { authorization: authorization() },
    timeoutMs,
    mostBytes,
    ca,
    insecure,
    serverName,
    ...clientPair?.(),
  })
  if (status === 404) throw new Error('the server records no reviews: start it with --recorded-admission-reviews=<n>')
  if (status !== 200) throw new Error(`the server answered ${status}: ${body.toString().slice(0, 500)}`)
  return body.toString()
}

function itemsOf(text: string): readonly RecordedReview[] {
  const value: unknown = JSON.parse(text)
  const items = isRecord(value) ? value['items'] : undefined
  if (!Array.isArray(items)) throw new Error('these are no recordings of reviews')
  return items as readonly RecordedReview[]
}

const chosen = (items: readonly RecordedReview[], { webhook, last }: Wish): readonly RecordedReview[] =>
  items.filter((item) => webhook === undefined || item.webhook === webhook).slice(-last)

async function replay(recorded: readonly RecordedReview[], { to, caFile }: Wish, print: (text: string) => void): Promise<number> {
  const endpoint = new JsonEndpoint({ url: to, ...(caFile === undefined ? {} : { ca: readFromDisk(caFile) }) }, { timeoutMs })
  let failures = 0
  try {
    for (const item of recorded) {
      print(`${titleOf(item)}\n`)
      try {
        const now = describeAnswer(responseIn(await endpoint.post(item.review)), item)
        const then = item.answer === undefined ? [] : describeAnswer(isRecord(item.answer) ? item.answer['response'] : undefined, item)
        const isSame = JSON.stringify(now) === JSON.stringify(then)
        print(`${now.map((line) => `  ${line}\n`).join('')}${isSame ? '  as at the time\n' : beforeText(item, then)}`)
      } catch (thrown) {
        failures++
        print(`  failed: ${(thrown as Error).message}\n`)
      }
    }
  } finally {
    endpoint.close()
  }
  return failures === 0 ? 0 : 1
}

const beforeText = ({ error }: RecordedReview, then: readonly string[]): string =>
  `  at the time:\n${(error === undefined ? then : [`failed: ${error}`]).map((line) => `    ${line}\n`).join('')}`

function titleOf({ time, webhook, review }: RecordedReview): string {
  const request = isRecord(review) && isRecord(review['request']) ? review['request'] : {}
  const { resource } = isRecord(request['resource']) ? request['resource'] : {}
  const part = request['subResource'] === undefined ? '' : `/${String(request['subResource'])}`
  const place = [request['namespace'], request['name']].filter((word) => typeof word === 'string').join('/')
  return `${time} ${webhook}: ${String(request['operation'])} ${String(resource)}${part} ${place}`
}

function responseIn({ status, body }: EndpointAnswer): unknown {
  if (status < 200 || status > 299) throw new Error(`it answered ${status}: ${body.toString().slice(0, 500)}`)
  const value: unknown = JSON.parse(body.toString())
  return isRecord(value) ? value['response'] : undefined
}

/** What a hook said, line by line: its decision, its warnings, and what its patch makes of the object. */
function describeAnswer(response: unknown, { review }: RecordedReview): readonly string[] {
  if (!isRecord(response)) return ['no response']
  const { status, warnings, patch } = response
  const { message, reason } = isRecord(status) ? status : {}
  const why = message ?? reason
  return [
    response['allowed'] === true ? 'allowed' : `denied${why === undefined ? '' : `: ${String(why)}`}`,
    ...(Array.isArray(warnings) ? warnings.map((warning) => `warning: ${String(warning)}`) : []),
    ...(typeof patch === 'string' ? changesOf(patch, review) : []),
  ]
}

function changesOf(patch: string, review: unknown): readonly string[] {
  const request = isRecord(review) && isRecord(review['request']) ? review['request'] : {}
  const object = (request['object'] ?? null) as Json
  try {
    return describeChanges(object, jsonPatch(object, JSON.parse(Buffer.from(patch, 'base64').toString())))
  } catch (thrown) {
    if (thrown instanceof PatchError || thrown instanceof SyntaxError) return [`its patch cannot be applied: ${thrown.message}`]
    throw thrown
  }
}
