// The same with jest, which knows `require` only: no flags, no transforms.

const { request } = require('node:https')
const { startServer } = require('cluster-apiserver')

let server
beforeAll(async () => {
  server = await startServer({ objects: [{ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop' } }] })
})
beforeEach(() => server.reset())
afterAll(() => server.close())

const ask = (method, path, body) =>
  new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${server.token}`, 'content-type': 'application/json' }
    request(`${server.url}${path}`, { method, headers, ca: server.caPem, agent: false }, async (response) => {
      resolve({ status: response.statusCode, json: JSON.parse((await response.toArray()).join('')) })
    })
      .on('error', reject)
      .end(body && JSON.stringify(body))
  })

const maps = '/api/v1/namespaces/shop/configmaps'

test.each([1, 2])('a test finds the server as it was started, round %i', async () => {
  expect((await ask('POST', maps, { metadata: { name: 'prices' }, data: { apple: '3' } })).status).toBe(201)
  expect((await ask('GET', `${maps}/prices`)).json.data).toEqual({ apple: '3' })
})

test('an option that does not exist is refused', async () => {
  await expect(startServer({ datadir: '/tmp' })).rejects.toThrow('is "dataDir" meant?')
})
