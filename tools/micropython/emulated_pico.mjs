// A Raspberry Pi Pico: npm's rp2040js, with what that lacks: writable flash, a reset, and flow
// control for a slow host. emulated_pico.py starts it and documents its behaviour.
//
//     node emulated_pico.mjs OPTIONS        a JSON object, see emulated_pico.py
//
// The board's serial port is stdin and stdout. The process ends when stdin does or the power is cut,
// and prints on stderr how often the flash was changed.

import fs from "node:fs";

const options = JSON.parse(process.argv[2]);
const { BasePeripheral, Simulator, USBCDC } = await import(options.library);

console.error = console.warn = () => {}; // the emulator warns about registers that it lacks

const FLASH_START = 0x10000000;
const CYCLE_NANOS = 8; // at 125 MHz
const TICK_BATCH = 64; // instructions between clock updates, unless an alarm is due earlier
const SLICE_MS = 4; // between two polls of the host
const MOST_PENDING = 65536; // bytes from the host that the board has not read

class PowerCut extends Error {}
class Restart extends Error {}

// The commands of SPI flash chips that a Pico's boot ROM and firmware use.
const PROGRAM_PAGE = 0x02;
const READ = 0x03;
const DISABLE_WRITE = 0x04;
const READ_STATUS = 0x05;
const ENABLE_WRITE = 0x06;
const ERASE_SECTOR = 0x20;
const READ_STATUS_2 = 0x35;
const READ_ID = 0x9f;
const ERASE_BLOCK = 0xd8;
const CHANGED_BYTES = { [PROGRAM_PAGE]: 256, [ERASE_SECTOR]: 4096, [ERASE_BLOCK]: 65536 };
const IDLE_BUS = 0xff;
const WRITE_ENABLED = 2; // bit of the status
const QUAD_ENABLED = 2; // bit of the second status
const ID = [0xef, 0x40, 0x15]; // Winbond, 16 Mbit

// The flash chip. As on a real chip, a command takes effect when it ends. `changes` counts them.
class Chip {
  constructor(bytes, cutAfter, journal) {
    this.bytes = bytes;
    this.cutAfter = cutAfter;
    this.journal = journal;
    this.changes = 0;
    this.isWritable = false;
    this.command = [];
  }

  begin() {
    this.command = [];
  }

  // Receive a byte of a command and return the byte that the chip sends meanwhile.
  shift(byte) {
    const received = this.command;
    received.push(byte);
    const [command] = received;
    const n = received.length - 1;
    if (n === 0) {
      if (command === ENABLE_WRITE || command === DISABLE_WRITE)
        this.isWritable = command === ENABLE_WRITE;
      return IDLE_BUS;
    }
    if (command === READ_STATUS) return this.isWritable ? WRITE_ENABLED : 0;
    if (command === READ_STATUS_2) return QUAD_ENABLED;
    if (command === READ_ID) return ID[n - 1] ?? 0;
    if (command === READ && n >= 4) return this.bytes[this.address() + n - 4] ?? IDLE_BUS;
    return IDLE_BUS;
  }

  address() {
    return (this.command[1] << 16) | (this.command[2] << 8) | this.command[3];
  }

  end() {
    const nbytes = CHANGED_BYTES[this.command[0]];
    if (nbytes && this.command.length >= 4 && this.isWritable) {
      this.isWritable = false;
      this.change(this.address(), nbytes);
    }
    this.command = [];
  }

  change(address, nbytes) {
    const { bytes, command } = this;
    const start = address & -nbytes;
    const before = bytes.slice(start, start + nbytes);
    if (command[0] === PROGRAM_PAGE)
      command.slice(4, 4 + nbytes).forEach((byte, i) => (bytes[address + i] &= byte));
    else bytes.fill(0xff, start, start + nbytes);
    this.changes += 1;
    if (this.journal !== null) {
      fs.writeSync(this.journal, new Uint32Array([start, nbytes]));
      fs.writeSync(this.journal, bytes.subarray(start, start + nbytes));
    }
    if (this.changes === this.cutAfter) {
      bytes.set(before.subarray(nbytes / 2), start + nbytes / 2);
      throw new PowerCut();
    }
  }
}

// A peripheral whose registers store the values written to them.
class Registers extends BasePeripheral {
  constructor(rp2040, name) {
    super(rp2040, name);
    this.values = new Map();
  }

  readUint32(offset) {
    return this.values.get(offset) ?? 0;
  }

  writeUint32(offset, value) {
    this.values.set(offset, value);
  }
}

// The pins of the flash chip. To write to it, firmware drives the select pin itself.
const SELECT = 0x0c; // offset of the select pin's control register
const LOW = 2;
const HIGH = 3;

class FlashPins extends Registers {
  constructor(rp2040, name, chip) {
    super(rp2040, name);
    this.chip = chip;
    this.select = 0; // LOW, HIGH; otherwise the SSI drives the pin
  }

  writeUint32(offset, value) {
    super.writeUint32(offset, value);
    if (offset !== SELECT) return;
    const last = this.select;
    this.select = (value >> 8) & 3;
    if (this.select === LOW && last !== LOW) this.chip.begin();
    if (this.select !== LOW && last === LOW) this.chip.end();
  }
}

// The serial interface to the flash chip: RP2040 datasheet, 4.10.13.
const ENABLE = 0x08;
const SENT_LEVEL = 0x20;
const RECEIVED_LEVEL = 0x24;
const STATUS = 0x28;
const DATA = 0x60;
const NOTHING_TO_SEND = 6; // bits of the status: the queue is empty, and not full
const RECEIVED = 8;

class Ssi extends Registers {
  constructor(rp2040, name, chip, pins) {
    super(rp2040, name);
    this.chip = chip;
    this.pins = pins;
    this.received = [];
  }

  readUint32(offset) {
    if (offset === SENT_LEVEL) return 0;
    if (offset === RECEIVED_LEVEL) return this.received.length;
    if (offset === STATUS) return NOTHING_TO_SEND | (this.received.length ? RECEIVED : 0);
    if (offset === DATA) return this.received.shift() ?? 0;
    return super.readUint32(offset);
  }

  writeUint32(offset, value) {
    if (offset !== DATA) {
      super.writeUint32(offset, value);
      if (offset === ENABLE) this.received = [];
    } else if (this.readUint32(ENABLE)) {
      this.received.push(this.exchange(value & 0xff));
    }
  }

  exchange(byte) {
    const { select } = this.pins;
    if (select === HIGH) return IDLE_BUS;
    if (select !== LOW && !this.received.length) this.chip.begin(); // the SSI selects
    return this.chip.shift(byte);
  }
}

// rp2040js steps PIO state machines whenever the host has time. Here they follow the board's clock, so
// that interrupts come at the same instruction in each run.
function keepTime(pio, clock) {
  const alarm = clock.createAlarm(step);

  function step() {
    if (pio.stopped) return;
    const now = clock.nanos;
    let next = Infinity;
    for (const machine of pio.machines) {
      if (!machine.enabled) continue;
      if (!(machine.due > now)) {
        const { cycles } = machine;
        machine.step();
        const took = Math.max(machine.cycles - cycles, 1); // 0 while it waits
        machine.due = now + took * (machine.clockDivInt || 65536) * CYCLE_NANOS;
      }
      next = Math.min(next, machine.due);
    }
    pio.checkChangedPins();
    alarm.schedule(next - now);
  }

  pio.run = () => {
    for (const machine of pio.machines) machine.due = 0;
    step();
  };
}

// The board. memory, watchdog: flash views and watchdog that survive a reset; null after power-on.
class Board {
  constructor(memory, watchdog) {
    const { clock, rp2040 } = new Simulator();
    const quiet = () => {};
    rp2040.logger = { debug: quiet, info: quiet, warn: quiet, error: quiet };
    rp2040.loadBootrom(Uint32Array.from(options.bootRom));
    this.clock = clock;
    this.rp2040 = rp2040;
    for (const pio of rp2040.pio) keepTime(pio, clock);
    this.held = null; // [endpoint, size] of a read that waits for bytes
    this.isOnline = false; // bytes sent before this would be lost
    this.watchdog = rp2040.peripherals[0x40058];
    this.watchdog.onWatchdogTrigger = () => {
      throw new Restart();
    };
    if (memory) {
      Object.assign(rp2040, memory);
      this.watchdog.reason = watchdog.reason;
      this.watchdog.scratchData.set(watchdog.scratchData);
    }
    this.cdc = new USBCDC(rp2040.usbCtrl);
    this.cdc.onSerialData = send;
    this.cdc.onDeviceConnected = () => {
      this.isOnline = true;
      this.receive(options.greeting);
    };
    this.answer = rp2040.usbCtrl.onEndpointRead;
    // After an empty answer the board would read again at once: let the read wait for bytes.
    rp2040.usbCtrl.onEndpointRead = (endpoint, size) => {
      if (endpoint && this.cdc.txFIFO.empty) this.held = [endpoint, size];
      else this.answer(endpoint, size);
    };
    rp2040.core.PC = FLASH_START;
  }

  connect(chip) {
    const { rp2040 } = this;
    const pins = new FlashPins(rp2040, "IO_QSPI", chip);
    rp2040.peripherals[0x40018] = pins;
    rp2040.peripherals[0x18000] = new Ssi(rp2040, "SSI", chip, pins);
  }

  memory() {
    const { flash, flash16, flashView } = this.rp2040;
    return { flash, flash16, flashView };
  }

  // Return true if the board waits for its host alone.
  isIdle() {
    return this.rp2040.core.waiting && !this.clock.nextAlarm;
  }

  receive(bytes) {
    for (const byte of bytes) this.cdc.sendSerialByte(byte);
    if (this.held && bytes.length) {
      const { held } = this;
      this.held = null;
      this.answer(...held);
    }
  }

  run(untilMs) {
    const { clock } = this;
    const { core } = this.rp2040;
    do {
      for (let i = 0; i < 256; i++) {
        if (core.waiting) {
          if (!clock.nextAlarm) return;
          clock.tick(clock.nanosToNextAlarm);
          continue;
        }
        const most = clock.nextAlarm ? clock.nanosToNextAlarm : Infinity;
        let nanos = 0;
        for (let n = 0; n < TICK_BATCH && nanos < most && !core.waiting; n++)
          nanos += core.executeInstruction() * CYCLE_NANOS;
        clock.tick(nanos);
      }
    } while (performance.now() < untilMs);
  }
}

let pending = Buffer.alloc(0); // bytes from the host that the board has not read
let hasEnded = false; // the host has closed stdin
let isWaiting = false; // the board waits for the host

function send(bytes) {
  for (let data = Buffer.from(bytes); data.length; ) {
    try {
      data = data.subarray(fs.writeSync(1, data));
    } catch (error) {
      if (error.code !== "EAGAIN") throw error;
    }
  }
}

function forwardInput() {
  const { txFIFO } = board.cdc;
  if (!board.isOnline || !pending.length) return;
  const n = txFIFO.size - txFIFO.itemCount;
  const bytes = pending.subarray(0, n);
  pending = pending.subarray(n);
  board.receive(bytes);
  if (pending.length < MOST_PENDING) process.stdin.resume();
}

function turn() {
  try {
    board.run(performance.now() + SLICE_MS);
    forwardInput();
  } catch (error) {
    if (error instanceof PowerCut) return finish();
    if (!(error instanceof Restart)) throw error;
    board = new Board(board.memory(), board.watchdog);
    board.connect(chip);
  }
  if (hasEnded && (!pending.length || board.isIdle())) return finish();
  isWaiting = board.isIdle();
  if (!isWaiting) setImmediate(turn);
}

function wake() {
  if (!isWaiting) return;
  isWaiting = false;
  setImmediate(turn);
}

function finish() {
  if (options.journal) fs.closeSync(chip.journal);
  if (options.flash) fs.writeFileSync(options.flash, chip.bytes.subarray(0, options.flashBytes));
  fs.writeSync(2, `${chip.changes}\n`);
  process.exit(0);
}

let board = new Board(null, null);
for (const [offset, path] of options.images)
  board.rp2040.flash.set(fs.readFileSync(path), offset);
const journal = options.journal ? fs.openSync(options.journal, "w") : null;
const chip = new Chip(board.rp2040.flash, options.cutAfter, journal);
board.connect(chip);
process.stdin.on("data", (data) => {
  pending = Buffer.concat([pending, data]);
  if (pending.length >= MOST_PENDING) process.stdin.pause();
  if (isWaiting) forwardInput();
  wake();
});
process.stdin.on("end", () => {
  hasEnded = true;
  wake();
});
turn();
