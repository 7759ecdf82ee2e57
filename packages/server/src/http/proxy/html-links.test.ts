// Links of pages that are read through a proxy: which of them change, and that nothing else does, however the page is cut into pieces.

import assert from 'node:assert/strict'
import { finished } from 'node:stream/promises'
import { test } from 'node:test'
import { HtmlLinks } from './html-links.js'
import { rewriteLink } from './proxy-links.js'

const place = { prefix: '/api/v1/namespaces/n/services/s/proxy', host: '10.0.0.1:80', requestHost: 'api.example' }

async function rewrite(page: string, pieceBytes = page.length || 1): Promise<string> {
  const links = new HtmlLinks((link) => rewriteLink(link, place))
  const bytes = Buffer.from(page, 'utf8')
  for (let at = 0; at < bytes.length; at += pieceBytes) links.write(bytes.subarray(at, at + pieceBytes))
  links.end()
  const out: Buffer[] = []
  for await (const piece of links) out.push(piece as Buffer)
  return Buffer.concat(out).toString('utf8')
}

const links: readonly (readonly [link: string, becomes: string])[] = [
  ['/', `${place.prefix}/`],
  ['/a/b?c=d#e', `${place.prefix}/a/b?c=d#e`],
  ['/a//b/../c/', `${place.prefix}/a/c/`],
  ['http://10.0.0.1:80/a', `${place.prefix}/a`],
  ['https://api.example/a', `https://api.example${place.prefix}/a`],
  ['http://elsewhere/a', 'http://elsewhere/a'],
  ['//elsewhere/a', '//elsewhere/a'],
  ['a/b', 'a/b'],
  ['', ''],
  ['?x', '?x'],
  ['#x', '#x'],
  ['mailto:a@b', 'mailto:a@b'],
  [`${place.prefix}/known`, `${place.prefix}/known`],
  ['/bad%zz', '/bad%zz'],
  ['/a\nb', '/a\nb'],
]

test('links that lead to the place itself lead through the proxy', () => {
  for (const [link, becomes] of links) assert.equal(rewriteLink(link, place), becomes, link)
})

const p = place.prefix
const pages: readonly (readonly [page: string, becomes: string])[] = [
  ['<a href="/x">', `<a href="${p}/x">`],
  ["<A  HREF = '/x' id=1>y</A>", `<A  HREF = "${p}/x" id=1>y</A>`],
  ['<img src=/x alt="a > b" usemap=/m/>', `<img src="${p}/x" alt="a > b" usemap="${p}/m/">`],
  ['<form action="/a?b&amp;c">', `<form action="${p}/a?b&amp;c">`],
  ['<p href="/x">', '<p href="/x">'],
  ['<a title="/x" data-href="/y">', '<a title="/x" data-href="/y">'],
  ['<!-- <a href="/x"> --><a href="/y">', `<!-- <a href="/x"> --><a href="${p}/y">`],
  ['<!--><a href="/y">', `<!--><a href="${p}/y">`],
  ['<!DOCTYPE html><?php ?></a ><a href="/y">', `<!DOCTYPE html><?php ?></a ><a href="${p}/y">`],
  [
    '<script src="/s">if (a<b) x=\'<a href="/z">\'</SCRIPT ><a href="/y">',
    `<script src="${p}/s">if (a<b) x='<a href="/z">'</SCRIPT ><a href="${p}/y">`,
  ],
  ['a < b << <a href="/y"> <', `a < b << <a href="${p}/y"> <`],
  ['<a href="/never ends', '<a href="/never ends'],
  ['grüße <a href="/grüße">', `grüße <a href="${p}/grüße">`],
  ['<a href>x</a><a href=>y</a>', '<a href>x</a><a href=>y</a>'],
  ['<input disabled src="/x"/>', `<input disabled src="${p}/x"/>`],
]

test('only links of a page change, in pieces of any size', async () => {
  for (const [page, becomes] of pages) {
    for (const size of [page.length, 1, 2, 7]) assert.equal(await rewrite(page, size), becomes, `${page} in pieces of ${size}`)
  }
})

test('a tag that does not end is passed on, and takes no more time than its bytes', async () => {
  const page = `<a href="${'x'.repeat(300_000)}`
  const begun = performance.now()
  assert.equal(await rewrite(page, 1), page)
  assert.ok(performance.now() - begun < 40_000)
})

test('a page of nothing but ends takes time by its length', async () => {
  for (const unit of ['<script></SCRIPT>', '<!---->', '<title></title>']) {
    const page = unit.repeat(20_000)
    const before = process.cpuUsage()
    assert.equal(await rewrite(page), page)
    const { user, system } = process.cpuUsage(before)
    assert.ok(user + system < 1_000_000, `${unit} took ${(user + system) / 1000} ms`)
  }
})

test('a page of nothing but links is rewritten in steps', async () => {
  const links = new HtmlLinks((link) => rewriteLink(link, place))
  // An iterator would put together what came since it last looked.
  const parts: string[] = []
  links.on('data', (part: Buffer) => void parts.push(part.toString()))
  links.end(Buffer.from('<a href="/x">'.repeat(10_000)))
  await finished(links)
  assert.ok(parts.length > 10, `${parts.length} parts`)
  assert.equal(parts.join(''), `<a href="${place.prefix}/x">`.repeat(10_000))
})
