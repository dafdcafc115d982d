// Sends prebuilt requests over keep-alive connections and measures the answers.
//
// node load.js '{"port", "connections", "warmUp", "seconds", "file", "once", "expect"}'
// `file`: requests, each after its length in four bytes, sent in their order and then from the first again; with
// `once` the run ends with the last one. Writes the line "measuring" after the warm-up, then one line of JSON.
import fs from 'node:fs'
import net from 'node:net'

const FINE = 10 // µs: width of a bucket up to 100 ms; above it 1 ms
const options = JSON.parse(process.argv[2])
const requests = split(fs.readFileSync(options.file))
const fine = new Uint32Array(10_000)
const coarse = new Uint32Array(60_000)
const refusals = {}
let next = 0
let isMeasuring = false
let isOver = false
let answered = 0
let failed = 0
let received = 0
let example = ''

function split(content) {
  const found = []
  for (let at = 0; at < content.length; ) {
    const length = content.readUInt32BE(at)
    found.push(content.subarray(at + 4, at + 4 + length))
    at += 4 + length
  }
  return found
}

function note(status, milliseconds, text) {
  if (status !== options.expect) {
    failed += 1
    refusals[status] = (refusals[status] || 0) + 1
    example = example || text()
  }
  if (!isMeasuring) return
  answered += 1
  const microseconds = milliseconds * 1000
  if (microseconds < 100_000) fine[(microseconds / FINE) | 0] += 1
  else coarse[Math.min(59_999, milliseconds | 0)] += 1
}

class Connection {
  constructor() {
    this.isWaiting = false
    this.open()
  }

  open() {
    this.head = null
    this.left = 0
    this.isChunked = false
    const onread = { buffer: Buffer.allocUnsafe(65_536), callback: (count, buffer) => this.read(count, buffer) }
    this.socket = net.connect({ host: '127.0.0.1', port: options.port, noDelay: true, onread })
    this.socket.on('connect', () => this.send())
    this.socket.on('error', () => {})
    this.socket.on('close', () => this.closed())
  }

  send() {
    if (isOver) return this.socket.destroy()
    if (next === requests.length) {
      if (options.once) return finish()
      next = 0
    }
    this.isWaiting = true
    this.startedAt = performance.now()
    this.socket.write(requests[next++])
  }

  read(count, buffer) {
    received += count
    if (this.left > 0) {
      this.left -= count
      if (this.left <= 0) this.done()
    } else if (this.isChunked) {
      this.tail = Buffer.concat([this.tail, buffer.subarray(0, count)]).subarray(-5)
      if (this.tail.toString('latin1') === '0\r\n\r\n') this.done()
    } else {
      this.readHead(count, buffer)
    }
    return true
  }

  readHead(count, buffer) {
    const content = this.head ? Buffer.concat([this.head, buffer.subarray(0, count)]) : buffer.subarray(0, count)
    const end = content.indexOf('\r\n\r\n')
    if (end < 0) {
      this.head = Buffer.from(content)
      return
    }
    const head = content.toString('latin1', 0, end)
    this.head = null
    this.status = (content[9] - 48) * 100 + (content[10] - 48) * 10 + content[11] - 48
    if (this.status !== options.expect) this.text = content.toString('latin1', 0, 600)
    const length = /\r\ncontent-length: *(\d+)/i.exec(head)
    if (length || this.status === 204 || this.status === 304 || !/transfer-encoding: *chunked/i.test(head)) {
      this.left = (length ? Number(length[1]) : 0) - (content.length - end - 4)
      if (this.left <= 0) this.done()
    } else {
      this.isChunked = true
      this.tail = Buffer.from(content.subarray(-5))
      if (content.length > end + 4 && this.tail.toString('latin1') === '0\r\n\r\n') this.done()
    }
  }

  done() {
    this.left = 0
    this.isChunked = false
    this.isWaiting = false
    note(this.status, performance.now() - this.startedAt, () => this.text)
    this.send()
  }

  closed() {
    if (isOver) return
    if (this.isWaiting) note(0, performance.now() - this.startedAt, () => 'The connection was closed without an answer.')
    this.isWaiting = false
    setTimeout(() => isOver || this.open(), 10)
  }
}

function percentile(share) {
  let left = answered * share
  for (let i = 0; i < fine.length; i++) if ((left -= fine[i]) <= 0) return ((i + 0.5) * FINE) / 1000
  for (let i = 0; i < coarse.length; i++) if ((left -= coarse[i]) <= 0) return i + 0.5
  return 0
}

let startedAt = 0
let usedBefore = process.cpuUsage()

function measure() {
  if (isOver) return
  process.stdout.write('measuring\n')
  usedBefore = process.cpuUsage()
  startedAt = performance.now()
  isMeasuring = true
  setTimeout(finish, options.seconds * 1000)
}

function finish() {
  if (isOver) return
  isOver = true
  const seconds = (performance.now() - startedAt) / 1000
  const { user, system } = process.cpuUsage(usedBefore)
  const figures = { answered, seconds, failed, refusals, example, received, own_cpu: (user + system) / 1e6 }
  process.stdout.write(JSON.stringify({ ...figures, p50: percentile(0.5), p99: percentile(0.99) }) + '\n')
  setTimeout(() => process.exit(0), 20)
}

for (let i = 0; i < options.connections; i++) new Connection()
if (options.warmUp > 0) setTimeout(measure, options.warmUp * 1000)
else measure()
