// Long strings that almost match a format of a CRD schema.

import { isOfFormat } from '../../packages/api/src/resources/apiextensions/values/string-formats.js'
import { fill, maxBodyBytes, type Shape } from './shape.js'

const shape = (format: string, start: string, unit: string, end = ''): Shape => ({
  subject: 'formats',
  name: `${format}, ${JSON.stringify(`${start}${unit}…${end}`)}`,
  maxBytes: maxBodyBytes,
  prepare: (bytes) => {
    const text = `${start}${fill(unit, bytes)}${end}`
    return () => isOfFormat(format, text)
  },
})

export const formatShapes: readonly Shape[] = [
  shape('duration', '', '1'),
  shape('duration', '', '1 '),
  shape('duration', '1', ' '),
  shape('duration', '', '1m', '!'),
  shape('byte', '', 'A', '!'),
  shape('cidr', '', '0', '/1'),
  shape('date', '2000-01-01', '1'),
  shape('date-time', '2000-01-01T00:00:00.', '1'),
  shape('email', '', 'a "b" ', '@'),
  shape('email', 'a@b', '('),
  shape('email', '"', '\\"'),
  shape('hostname', '', 'a.', '!'),
  shape('ipv4', '', '0', '.'),
  shape('ipv6', '', ':0'),
  shape('isbn', '', '1-'),
  shape('creditcard', '', '4 '),
  shape('mac', '', '00:', '!'),
  shape('rgbcolor', 'rgb(', ' '),
  shape('rgbcolor', 'rgb(1', ' '),
  shape('uri', '', 'a'),
  shape('uri', 'http://[', '%25'),
  shape('uri', 'http://', 'a:@'),
  shape('uri', '/', '%41'),
]
